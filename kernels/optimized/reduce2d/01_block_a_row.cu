// Many threads for each sum, and neighbours that read neighbours. A block adds up one row: its
// threads walk along the row side by side, and a tree in shared memory adds what they have. A block
// takes 32 columns, a warp's width, and shares out the rows among its eight warps.
//
// What it should buy: four sectors for a load request of the rows, where there were 32, so that both
// launches together read the matrix twice and no more. And threads: 256 for each row, eight for each
// column, enough to keep memory busy.
//
// /// launch
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// grid = ["M"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "sum_columns"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, WARP)"]
// block = ["WARP", "DOWN"]
// ///

constexpr int BLOCK = 256;  // threads that add up a row: a power of two
constexpr int WARP = 32;    // columns of a block: what a warp reads with one request
constexpr int DOWN = 8;     // warps that share out the rows of these columns

// rows[i] = the sum of row i of `in`, which is M × N, row-major. One block a row.
extern "C" __global__ void sum_rows(const float* __restrict__ in, float* __restrict__ rows,
                                    int M, int N)
{
    __shared__ float sums[BLOCK];

    const float* const row = in + size_t(blockIdx.x) * N;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        sum += row[column];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();  // the sums of all threads are there

    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) {
            sums[threadIdx.x] += sums[threadIdx.x + distance];
        }
        __syncthreads();  // the sums of this step are complete
    }

    if (threadIdx.x == 0) {
        rows[blockIdx.x] = sums[0];
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
