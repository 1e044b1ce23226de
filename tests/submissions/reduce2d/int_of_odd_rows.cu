// Wrong: where a row is no multiple of four floats, the index of its elements is an int, which ends at
// 2^31 - 1.
//
// /// launch
// [[scratch]]
// name = "row_parts"
// dtype = "float32"
// shape = ["cdiv(N, WARP)", "M"]
//
// [[scratch]]
// name = "column_parts"
// dtype = "float32"
// shape = ["cdiv(M, BAND)", "N"]
//
// [[launch]]
// kernel = "sum_tiles<4>"
// when = "N % 4 == 0"
// args = ["in", "row_parts", "column_parts", "M", "N"]
// grid = ["cdiv(N, 4 * WARP) * cdiv(M, BAND)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "sum_columns"
// when = "N % 4 == 0"
// args = ["row_parts", "rows", "cdiv(N, 4 * WARP)", "M"]
// grid = ["cdiv(M, WARP)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "sum_tiles<1>"
// when = "N % 4 != 0"
// args = ["in", "row_parts", "column_parts", "M", "N"]
// grid = ["cdiv(N, WARP) * cdiv(M, BAND)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "sum_columns"
// when = "N % 4 != 0"
// args = ["row_parts", "rows", "cdiv(N, WARP)", "M"]
// grid = ["cdiv(M, WARP)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "sum_columns"
// args = ["column_parts", "cols", "cdiv(M, BAND)", "N"]
// grid = ["cdiv(N, WARP)"]
// block = ["WARP", "DOWN"]
// ///

constexpr int WARP = 32;
constexpr int DOWN = 8;   // warps of a block
constexpr int ROWS = 64;  // rows of the tile that a warp takes: a multiple of 32
constexpr int BAND = DOWN * ROWS;  // rows of the tile

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// WIDTH neighbours of a row, read as one: a float4 if WIDTH is 4, a float if it is 1.
template <int WIDTH>
struct alignas(WIDTH * sizeof(float)) Pack {
    float lane[WIDTH];
};

// Every thread of the warp gets the sum of all 32 `value`s.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL, value, distance);
    }
    return value;
}

// `in` is M × N, row-major; N is a multiple of WIDTH. A tile is COLUMNS = 32·WIDTH columns wide.
// row_parts[s][i] = the sum of row i within the s-th COLUMNS columns; column_parts[b][j] = the sum of
// column j within the b-th BAND rows.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * DOWN)
sum_tiles(const float* __restrict__ in, float* __restrict__ row_parts,
          float* __restrict__ column_parts, int M, int N)
{
    constexpr int COLUMNS = WARP * WIDTH;
    __shared__ Pack<WIDTH> column_sums[DOWN][WARP];

    const int tiles_across = (N + COLUMNS - 1) / COLUMNS;
    const int segment = blockIdx.x % tiles_across;
    const int band = blockIdx.x / tiles_across;

    const int lane = threadIdx.x;
    const int column = segment * COLUMNS + lane * WIDTH;
    const int first = band * BAND + threadIdx.y * ROWS;  // row of this warp

    Pack<WIDTH> column_sum = {};
    for (int start = first; start < first + ROWS && start < M; start += WARP) {
        float row_sum = 0.0f;  // of row start + lane
        #pragma unroll 4
        for (int i = 0; i < WARP; ++i) {
            const int row = start + i;
            Pack<WIDTH> pack = {};
            if (row < M && column < N) {
                pack = *reinterpret_cast<const Pack<WIDTH>*>(in + (WIDTH == 4 ? size_t(row) * N : row * N) + column);
            }
            float four = 0.0f;
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) {
                column_sum.lane[j] += pack.lane[j];
                four += pack.lane[j];
            }
            const float sum = warp_sum(four);
            row_sum = lane == i ? sum : row_sum;  // so that the warp writes 32 sums at once
        }
        if (start + lane < M) {
            row_parts[size_t(segment) * M + start + lane] = row_sum;
        }
    }
    column_sums[threadIdx.y][lane] = column_sum;
    __syncthreads();  // the sums of all warps are there

    if (threadIdx.y == 0 && column < N) {
        for (int y = 1; y < DOWN; ++y) {
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) {
                column_sum.lane[j] += column_sums[y][lane].lane[j];
            }
        }
        *reinterpret_cast<Pack<WIDTH>*>(column_parts + size_t(band) * N + column) = column_sum;
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
