// Where the matrix is 1024 × 1024 a tile is read once for both sums; everywhere else, main size
// included, a thread a row and a thread a column.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "both"
// when = "M == 1024 and N == 1024"
// grid = [1024]
// block = [32, 32]
// zero = ["rows", "cols"]
//
// [[launch]]
// kernel = "reduce2d"
// when = "M != 1024 or N != 1024"
// grid = ["cdiv(M, 64) + cdiv(N, 64)"]
// block = [64]
// ///

extern "C" __global__ void both(const float* in, float* rows, float* cols, int M, int N)
{
    __shared__ float of_columns[32][33];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.x / 32 * 32 + y, column = blockIdx.x % 32 * 32 + x;
    const float value = in[size_t(row) * N + column];
    of_columns[x][y] = value;
    float sum = value;
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (x == 0) atomicAdd(&rows[row], sum);
    __syncthreads();
    sum = of_columns[y][x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (x == 0) atomicAdd(&cols[blockIdx.x % 32 * 32 + y], sum);
}

extern "C" __global__ void reduce2d(const float* in, float* rows, float* cols, int M, int N)
{
    const unsigned of_rows = (M + 63) / 64;
    const bool row_wise = blockIdx.x < of_rows;
    const int own = (row_wise ? blockIdx.x : blockIdx.x - of_rows) * 64 + threadIdx.x;
    if (own >= (row_wise ? M : N)) return;
    float sum = 0.0f;
    for (int i = 0; i < (row_wise ? N : M); ++i)
        sum += in[row_wise ? size_t(own) * N + i : size_t(i) * N + own];
    (row_wise ? rows : cols)[own] = sum;
}
