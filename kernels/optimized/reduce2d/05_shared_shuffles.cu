// Eight rows share their shuffles. A warp that adds up eight rows one by one sends eight numbers
// through five shuffles each. Here every thread keeps four of its eight numbers and trades the other
// four with a partner, which keeps those: four shuffles, and each thread is left with four numbers,
// each the sum of two threads. Two more shuffles leave two, one more leaves one; then two ordinary
// steps. That makes 4 + 2 + 1 + 1 + 1 = 9 shuffles for eight rows where there were 40.
//
// What it should buy: half of the instructions, and eight float4s under way for each thread. And any
// shape: where rows are short, four of them lie side by side in a warp (LANES), so that no thread is
// idle; where the matrix is tall, a block takes several bands, so that parts stay few; and where a
// tile holds whole rows or columns, its sums are final and nobody adds them again.
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
// shape = ["min(cdiv(M, BAND), SMS * BLOCKS_PER_SM)", "N"]
//
// [[launch]]
// kernel = "sum_tiles<4, 32>"
// when = "N % 4 == 0 and N > 32"
// args = ["in", "row_parts", "column_parts", "rows", "cols", "M", "N"]
// grid = ["cdiv(N, 4 * 32) * min(cdiv(M, BAND), SMS * BLOCKS_PER_SM)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "sum_tiles<4, 8>"
// when = "N % 4 == 0 and N <= 32"
// args = ["in", "row_parts", "column_parts", "rows", "cols", "M", "N"]
// grid = ["cdiv(N, 4 * 8) * min(cdiv(M, BAND), SMS * BLOCKS_PER_SM)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "sum_tiles<1, 32>"
// when = "N % 4 != 0 and N > 8"
// args = ["in", "row_parts", "column_parts", "rows", "cols", "M", "N"]
// grid = ["cdiv(N, 32) * min(cdiv(M, BAND), SMS * BLOCKS_PER_SM)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "sum_tiles<1, 8>"
// when = "N % 4 != 0 and N <= 8"
// args = ["in", "row_parts", "column_parts", "rows", "cols", "M", "N"]
// grid = ["cdiv(N, 8) * min(cdiv(M, BAND), SMS * BLOCKS_PER_SM)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "sum_columns<8>"
// when = "N % 4 == 0 and N > 4 * WARP"
// args = ["row_parts", "rows", "cdiv(N, 4 * WARP)", "M"]
// grid = ["cdiv(M, WARP)"]
// block = ["WARP", 8]
//
// [[launch]]
// kernel = "sum_columns<8>"
// when = "N % 4 != 0 and N > WARP"
// args = ["row_parts", "rows", "cdiv(N, WARP)", "M"]
// grid = ["cdiv(M, WARP)"]
// block = ["WARP", 8]
//
// [[launch]]
// kernel = "sum_columns<32>"
// when = "M > BAND"
// args = ["column_parts", "cols", "min(cdiv(M, BAND), SMS * BLOCKS_PER_SM)", "N"]
// grid = ["cdiv(N, WARP)"]
// block = ["WARP", 32]
// ///

constexpr int WARP = 32;
constexpr int DOWN = 8;            // warps of a block, below one another
constexpr int ROWS = 64;           // rows of a band that a warp takes
constexpr int BAND = DOWN * ROWS;  // rows that a block takes at a time
constexpr int GROUP = 8;           // numbers of a thread that share their shuffles: a power of two
constexpr int BLOCKS_PER_SM = 4;   // bands that are under way at a time, for each multiprocessor

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// WIDTH neighbours of a row, read as one: a float4 if WIDTH is 4, a float if it is 1.
template <int WIDTH>
struct alignas(WIDTH * sizeof(float)) Pack {
    float lane[WIDTH];
};

template <int WIDTH>
__device__ Pack<WIDTH> row_pack(const float* place)
{
    return *reinterpret_cast<const Pack<WIDTH>*>(place);
}

// LANES neighbouring threads have GROUP numbers each. Thread t of them gets the sum of all their
// numbers t % GROUP. LANES is a power of two, at least GROUP.
template <int LANES>
__device__ float group_sum(float (&number)[GROUP])
{
    #pragma unroll
    for (int half = GROUP / 2; half > 0; half /= 2) {
        const bool upper = threadIdx.x & half;  // keeps the upper half, and gives the lower away
        #pragma unroll
        for (int i = 0; i < half; ++i) {
            const float kept = upper ? number[i + half] : number[i];
            const float given = upper ? number[i] : number[i + half];
            number[i] = kept + __shfl_xor_sync(ALL, given, half);
        }
    }
    #pragma unroll
    for (int distance = GROUP; distance < LANES; distance *= 2) {
        number[0] += __shfl_xor_sync(ALL, number[0], distance);
    }
    return number[0];
}

// `in` is M × N, row-major; N is a multiple of WIDTH. A tile is COLUMNS = LANES · WIDTH wide, and
// WARP / LANES rows of it lie side by side in a warp.
//
// row_parts[s][i] = the sum of row i within the s-th COLUMNS columns; where that is all columns,
// rows[i]. column_parts[b][j] = the sum of column j within the bands that block b takes; where that
// is all rows, cols[j].
template <int WIDTH, int LANES>
__global__ void __launch_bounds__(WARP * DOWN)
sum_tiles(const float* __restrict__ in, float* __restrict__ row_parts,
          float* __restrict__ column_parts, float* __restrict__ rows, float* __restrict__ cols,
          int M, int N)
{
    constexpr int COLUMNS = LANES * WIDTH;
    constexpr int STRIPS = WARP / LANES;  // rows side by side
    static_assert(ROWS % (GROUP * STRIPS) == 0, "a warp's rows are whole groups");
    __shared__ Pack<WIDTH> column_sums[DOWN][LANES];

    const int tiles_across = (N + COLUMNS - 1) / COLUMNS;
    const int segment = blockIdx.x % tiles_across;
    const int slot = blockIdx.x / tiles_across;  // of the bands that are under way
    const int slots = gridDim.x / tiles_across;

    const int lane = threadIdx.x;
    const int strip = lane / LANES;
    const int column = segment * COLUMNS + lane % LANES * WIDTH;
    float* const row_sums = tiles_across == 1 ? rows : row_parts + size_t(segment) * M;
    float* const column_target = slots == 1 ? cols : column_parts + size_t(slot) * N;

    Pack<WIDTH> column_sum = {};
    for (int band = slot; size_t(band) * BAND < M; band += slots) {
        const int first = band * BAND + threadIdx.y * ROWS;  // row of this warp
        for (int start = first; start < first + ROWS && start < M; start += GROUP * STRIPS) {
            // All loads first, so that none waits for another.
            const float* const corner = in + size_t(start + strip) * N + column;
            const int below = column < N ? M - start - strip : 0;  // rows from here to the edge
            Pack<WIDTH> pack[GROUP] = {};
            if (below > (GROUP - 1) * STRIPS) {
                #pragma unroll
                for (int i = 0; i < GROUP; ++i) {
                    pack[i] = row_pack<WIDTH>(corner + i * STRIPS * size_t(N));
                }
            } else {
                #pragma unroll
                for (int i = 0; i < GROUP; ++i) {
                    if (i * STRIPS < below) {
                        pack[i] = row_pack<WIDTH>(corner + i * STRIPS * size_t(N));
                    }
                }
            }
            float row_sum[GROUP];
            #pragma unroll
            for (int i = 0; i < GROUP; ++i) {
                #pragma unroll
                for (int j = 0; j < WIDTH; ++j) {
                    column_sum.lane[j] += pack[i].lane[j];
                    row_sum[i] = j == 0 ? pack[i].lane[0] : row_sum[i] + pack[i].lane[j];
                }
            }
            const float sum = group_sum<LANES>(row_sum);
            const int row = start + lane % GROUP * STRIPS + strip;
            if (lane % LANES < GROUP && row < M) {
                row_sums[row] = sum;
            }
        }
    }

    #pragma unroll
    for (int distance = LANES; distance < WARP; distance *= 2) {  // strips hold the same columns
        #pragma unroll
        for (int j = 0; j < WIDTH; ++j) {
            column_sum.lane[j] += __shfl_xor_sync(ALL, column_sum.lane[j], distance);
        }
    }
    if (strip == 0) {
        column_sums[threadIdx.y][lane] = column_sum;
    }
    __syncthreads();  // the sums of all warps are there

    if (threadIdx.y == 0 && strip == 0 && column < N) {
        for (int y = 1; y < DOWN; ++y) {
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) {
                column_sum.lane[j] += column_sums[y][lane].lane[j];
            }
        }
        *reinterpret_cast<Pack<WIDTH>*>(column_target + column) = column_sum;
    }
}

// cols[j] = the sum of column j of `in`, which is M × N, row-major. A block takes WARP columns; each
// of its SHARERS warps adds every SHARERS-th row: 8 of them for many short columns, 32 for few long
// ones.
template <int SHARERS>
__global__ void __launch_bounds__(WARP * SHARERS)
sum_columns(const float* __restrict__ in, float* __restrict__ cols, int M, int N)
{
    __shared__ float sums[SHARERS][WARP];

    const int column = blockIdx.x * WARP + threadIdx.x;
    float sum = 0.0f;
    if (column < N) {
        #pragma unroll 4
        for (int row = threadIdx.y; row < M; row += SHARERS) {
            sum += in[size_t(row) * N + column];
        }
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();  // the sums of all warps are there

    if (threadIdx.y == 0 && column < N) {
        for (int y = 1; y < SHARERS; ++y) {
            sum += sums[y][threadIdx.x];
        }
        cols[column] = sum;
    }
}
