// A warp adds up a row, in its registers: five shuffles at the end of the row take the place of the
// tree, its shared memory and its barriers. Columns are added as before.
//
// What it should buy: no warp waits for another, so that one may begin to fetch while its neighbour
// adds up. The shorter the rows, the more it matters: a row of 128 gives work to 32 threads with four
// numbers each, where a block of 256 has one number for every second thread. Rows as long as those of
// the main size give a whole block enough to do, so there it gains nothing.
//
// /// launch
// side_step = true
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, DOWN)"]
// block = ["WARP", "DOWN"]
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

// Thread 0 of the warp gets the sum of all 32 `value`s; what the others get is of no use.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(ALL, value, distance);
    }
    return value;
}

// rows[i] = the sum of row i of `in`, which is M × N, row-major. One warp a row.
extern "C" __global__ void sum_rows(const float* __restrict__ in, float* __restrict__ rows,
                                    int M, int N)
{
    const int row = blockIdx.x * DOWN + threadIdx.y;
    if (row >= M) {
        return;  // the whole warp
    }
    float sum = 0.0f;
    #pragma unroll 8
    for (int column = threadIdx.x; column < N; column += WARP) {
        sum += in[size_t(row) * N + column];
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        rows[row] = sum;
    }
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
