// A block adds up a row by a tree in global memory: no shared memory, no shuffles.
//
// deserves: 01_block_a_row
//
// /// launch
// [[scratch]]
// name = "places"
// dtype = "float32"
// shape = ["M", 128]
//
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "places", "rows", "M", "N"]
// grid = ["M"]
// block = [128]
//
// [[launch]]
// kernel = "sum_columns"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, WARP)"]
// block = ["WARP", "DOWN"]
// ///

constexpr int WARP = 32;  // threads that add up a row; columns of a block
constexpr int DOWN = 8;   // warps of a block: its rows in the one kernel; in the other, sharers of the rows

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

extern "C" __global__ void sum_rows(const float* __restrict__ in, float* all, float* __restrict__ rows, int M, int N)
{
    volatile float* const places = all + size_t(blockIdx.x) * 128;
    float sum = 0.0f;
    #pragma unroll 8
    for (int four = threadIdx.x; four < N / 4 && N % 4 == 0; four += 128) {
        const float4 v = reinterpret_cast<const float4*>(in + size_t(blockIdx.x) * N)[four];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    if (N % 4)
        for (int column = threadIdx.x; column < N; column += 128) sum += in[size_t(blockIdx.x) * N + column];
    places[threadIdx.x] = sum;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            sum += places[threadIdx.x + half];
            places[threadIdx.x] = sum;
        }
    }
    if (threadIdx.x == 0) rows[blockIdx.x] = sum;
}

// cols[j] = the sum of column j of `in`, which is M × N, row-major. A block takes WARP columns; each
// of its DOWN warps adds every DOWN-th row.
extern "C" __global__ void sum_columns(const float* __restrict__ in, float* __restrict__ cols,
                                       int M, int N)
{
    __shared__ float sums[DOWN][WARP];

    const int column = blockIdx.x * WARP + threadIdx.x;
    float sum = 0.0f;
    if (column < N) {
        #pragma unroll 4
        for (int row = threadIdx.y; row < M; row += DOWN) {
            sum += in[size_t(row) * N + column];
        }
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();  // the sums of all warps are there

    if (threadIdx.y == 0 && column < N) {
        for (int y = 1; y < DOWN; ++y) {
            sum += sums[y][threadIdx.x];
        }
        cols[column] = sum;
    }
}
