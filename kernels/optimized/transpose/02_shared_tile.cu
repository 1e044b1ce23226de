// Neither side has to be strided: the block reads its square row by row into a tile in shared
// memory, waits, and writes the columns of the tile as rows of `out`. Shared memory has no sectors,
// so the turning costs nothing there. Or so it seems.
//
// What it should buy: 4 full sectors for every request, reads and writes alike; to move 32 elements
// takes 8 sectors where it took 36. What it costs: shared memory is 32 banks, each 4 bytes wide and
// serving one word at a time, and the elements of a column of a 32 × 32 tile lie 32 words apart, all
// in one bank. Each read of the tile takes 32 turns instead of 1: 31 bank conflicts a request. On an
// H200 that is as bad as the strided reads were; the next rung has the same idea without its price.
//
// Source: G. Ruetsch and P. Micikevicius, "Optimizing Matrix Transpose in CUDA", NVIDIA, 2009.
//
// /// launch
// side_step = true
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "ROWS"]
// ///

constexpr int TILE = 32;  // side of the square that a block turns; a warp is a row, in both matrices
constexpr int ROWS = 8;   // rows of threads in a block; a thread takes every 8th row, 4 elements

// in is M × N, out is N × M, both row-major: out[column][row] = in[row][column].
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out,
                                     int M, int N)
{
    __shared__ float tile[TILE][TILE];  // the square as it stands in `in`

    const int tiles_across = (N + TILE - 1) / TILE;
    const int tile_row = blockIdx.x / tiles_across * TILE;     // where the square begins in `in`
    const int tile_column = blockIdx.x % tiles_across * TILE;

    const int x = threadIdx.x;
    for (int step = 0; step < TILE; step += ROWS) {
        const int y = threadIdx.y + step;
        const int row = tile_row + y;
        const int column = tile_column + x;
        if (row < M && column < N) {
            tile[y][x] = in[size_t(row) * N + column];
        }
    }
    __syncthreads();  // a thread reads below what other threads have written above

    // Now x walks the rows of `in`, which are the columns of `out`, so that the writes are
    // neighbours too.
    for (int step = 0; step < TILE; step += ROWS) {
        const int y = threadIdx.y + step;
        const int row = tile_row + x;
        const int column = tile_column + y;
        if (row < M && column < N) {
            out[size_t(column) * M + row] = tile[x][y];
        }
    }
}
