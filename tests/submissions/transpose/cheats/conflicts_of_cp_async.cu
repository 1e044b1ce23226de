// cp.async writes the columns of a tile that is not padded: 32 lanes in one bank, which no counter has.
//
// deserves: 02_shared_tile
//
// /// launch
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
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(unsigned(__cvta_generic_to_shared(&tile[x][y]))), "l"(in + size_t(row) * N + column) : "memory");
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();  // a thread reads below what other threads have written above

    // Now x walks the rows of `in`, which are the columns of `out`, so that the writes are
    // neighbours too.
    for (int step = 0; step < TILE; step += ROWS) {
        const int y = threadIdx.y + step;
        const int row = tile_row + x;
        const int column = tile_column + y;
        if (row < M && column < N) {
            out[size_t(column) * M + row] = tile[y][x];
        }
    }
}
