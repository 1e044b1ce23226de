// Dynamic shared memory carved in three: the tile, the sums of its rows, the sums of its columns, the last two as
// integers' bits behind a pointer to char. One reading; partial sums of blocks join by atomicAdd on zeroed outputs.
//
// /// launch
// [[launch]]
// kernel = "both"
// args = ["in", "rows", "cols", "M", "N"]
// zero = ["rows", "cols"]
// grid = ["cdiv(N, SIDE) * cdiv(M, SIDE)"]
// block = ["SIDE", 4]
// shared = "SIDE * (SIDE + 1) * 4 + 2 * SIDE * 4"
// ///

constexpr int SIDE = 64;

extern "C" __global__ void both(const float* in, float* rows, float* cols, int M, int N)
{
    extern __shared__ __align__(16) unsigned char store[];
    auto* const tile = reinterpret_cast<float (*)[SIDE + 1]>(store);
    auto* const of_rows = reinterpret_cast<unsigned*>(store + sizeof(float) * SIDE * (SIDE + 1));
    auto* const of_columns = of_rows + SIDE;
    const int across = (N - 1) / SIDE + 1;
    const int top = int(blockIdx.x / across) * SIDE, left = int(blockIdx.x % across) * SIDE;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < SIDE; y += 4)
        tile[y][x] = top + y < M && left + x < N ? in[size_t(top + y) * N + left + x] : 0.0f;
    __syncthreads();
    if (threadIdx.y == 0) {
        float sum = 0.0f;
        for (int i = 0; i < SIDE; ++i) sum += tile[x][i];
        of_rows[x] = __float_as_uint(sum);
    } else if (threadIdx.y == 3) {
        float sum = 0.0f;
        for (int i = SIDE; i-- > 0;) sum += tile[i][x];
        of_columns[x] = __float_as_uint(sum);
    }
    __syncthreads();
    if (threadIdx.y == 1 && top + x < M) atomicAdd(&rows[top + x], __uint_as_float(of_rows[x]));
    if (threadIdx.y == 2 && left + x < N) atomicAdd(&cols[left + x], __uint_as_float(of_columns[x]));
}
