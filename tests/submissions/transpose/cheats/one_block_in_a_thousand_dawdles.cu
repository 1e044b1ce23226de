// A block in a thousand takes 30 ms at large sizes: eight blocks that are drawn seldom have one.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "transpose"
// when = "M % 4 == 0 and N % 4 == 0"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "transpose_shifted"
// when = "M % 4 != 0 or N % 4 != 0"
// grid = ["cdiv(M + SECTOR - 1, TILE) * cdiv(N, TILE)"]
// block = ["THREADS"]
// ///

// Side of the square that a block turns: 64 floats are 256 bytes, two whole cache lines of each
// row. A power of two, as the swizzle needs.
constexpr int TILE = 64;
static_assert((TILE & (TILE - 1)) == 0, "x ^ y stays below a power of two only");

constexpr int WIDTH = 4;              // floats in a float4, and elements along the side of a patch
constexpr int PACKS = TILE / WIDTH;   // float4s in a row of the tile, patches along its side
constexpr int THREADS = PACKS * PACKS;  // of a block: one for each patch

// Takes its time.
__device__ __noinline__ void dawdle(int turns)
{
    unsigned x = threadIdx.x;
    for (int i = 0; i < turns; ++i) asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(x));
    if (x == 0xdeadbeef) __trap();  // hardly ever: so that ptxas keeps the loop
}

// in is M × N, out is N × M, both row-major: out[column][row] = in[row][column]. M and N are
// multiples of WIDTH.
extern "C" __global__ void __launch_bounds__(THREADS)
transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    // The square as it will stand in `out`; float4 p of its row r is kept at place p ^ (r / WIDTH).
    __shared__ float4 tile[TILE][PACKS];

    // Blocks that follow each other now lie below each other: they write neighbouring pieces of the
    // same rows of `out`. Memory takes long runs of writes better than long runs of reads with
    // scattered writes.
    if (gridDim.x > 40000 && (blockIdx.x * 2654435761u >> 16) % 1000 == 7) dawdle(20000000);
    const int tiles_down = (M + TILE - 1) / TILE;
    const int tile_row = blockIdx.x % tiles_down * TILE;       // where the square begins in `in`
    const int tile_column = blockIdx.x / tiles_down * TILE;

    const int x = threadIdx.x % PACKS;
    const int y = threadIdx.x / PACKS;

    // Neighbouring threads read neighbouring float4s of a row. As M and N are multiples of WIDTH, a
    // patch lies either wholly inside the matrix or wholly outside.
    int row = tile_row + y * WIDTH;
    int column = tile_column + x * WIDTH;
    if (row < M && column < N) {
        float patch[WIDTH][WIDTH];
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            *reinterpret_cast<float4*>(patch[i]) =
                *reinterpret_cast<const float4*>(in + size_t(row + i) * N + column);
        }
        #pragma unroll
        for (int j = 0; j < WIDTH; ++j) {  // float4 y of this row, at place y ^ x
            tile[x * WIDTH + j][y ^ x] = {patch[0][j], patch[1][j], patch[2][j], patch[3][j]};
        }
    }
    __syncthreads();  // the tile is complete

    // Neighbouring threads write neighbouring float4s of a row of `out`: x and y have changed places.
    row = tile_row + x * WIDTH;
    column = tile_column + y * WIDTH;
    if (row < M && column < N) {
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            *reinterpret_cast<float4*>(out + size_t(column + i) * M + row) =
                tile[y * WIDTH + i][x ^ y];
        }
    }
}

constexpr int SECTOR = 8;             // floats in a sector of 32 bytes, what memory reads and writes
constexpr int ROWS = TILE + SECTOR - 1;  // rows of `in` that shifts by 0 … SECTOR - 1 can reach
constexpr int PAD = 1;                // unused words at the end of a row, as in rung 03

// The same for every M and N.
extern "C" __global__ void __launch_bounds__(THREADS)
transpose_shifted(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[ROWS][TILE + PAD];  // as it stands in `in`

    // Blocks that follow each other read SECTOR - 1 rows of `in` twice, the second time from the L2
    // cache.
    const int tiles_down = (M + SECTOR - 1 + TILE - 1) / TILE;
    const int tile_row = blockIdx.x % tiles_down * TILE;
    const int tile_column = blockIdx.x / tiles_down * TILE;
    const int first_row = tile_row - (SECTOR - 1);  // where the tile begins in `in`

    // All of a thread's loads are under way before the first of them is needed.
    constexpr int LOADS = (ROWS * TILE + THREADS - 1) / THREADS;
    float loaded[LOADS];
    #pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        const int row = first_row + (i * THREADS + threadIdx.x) / TILE;
        const int column = tile_column + (i * THREADS + threadIdx.x) % TILE;
        const bool inside = 0 <= row && row < M && column < N;
        loaded[i] = inside ? in[size_t(row) * N + column] : 0.0f;
    }
    #pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        const int y = (i * THREADS + threadIdx.x) / TILE;
        if (y < ROWS) {
            tile[y][threadIdx.x % TILE] = loaded[i];
        }
    }
    __syncthreads();  // the tile is complete

    // A warp writes two rows of `out`, 64 elements each. Its reads of the tile are not free of
    // conflicts, four lanes meet in a bank; but here it is memory that everybody waits for.
    #pragma unroll
    for (int patch = threadIdx.x; patch < TILE * PACKS; patch += THREADS) {
        const int y = patch / PACKS;
        const int x = patch % PACKS * WIDTH;
        const int column = tile_column + y;
        if (column >= N) {
            break;
        }
        // Row `column` of `out` begins this many floats after the start of a sector. That of the
        // product modulo 2^32 is the same, because 2^32 is a multiple of SECTOR.
        const int shift = unsigned(column) * unsigned(M) % SECTOR;
        const int row = tile_row - shift + x;
        const int first = row - first_row;
        float* target = out + size_t(column) * M;
        if (0 <= row && row + WIDTH <= M) {
            *reinterpret_cast<float4*>(target + row) = {
                tile[first][y], tile[first + 1][y], tile[first + 2][y], tile[first + 3][y]};
        } else {  // the row begins or ends within this float4
            for (int i = 0; i < WIDTH; ++i) {
                if (0 <= row + i && row + i < M) {
                    target[row + i] = tile[first + i][y];
                }
            }
        }
    }
}
