// The same square, walked the other way: a warp now writes 32 neighbours of one row of `out` and
// reads them from one column of `in`. One of the two sides has to be strided; this rung chooses the
// reads.
//
// What it should buy: store sectors fall from 32 a request to 4, load sectors rise from 4 to 32, so
// the sum stays. But strided reads are cheaper than strided writes. Warps of a block read columns
// beside one another, eight of which share a sector, and find it in the L1 cache after the first; a
// write goes through to the L2 cache every time.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "ROWS"]
// ///

constexpr int TILE = 32;  // side of the square that a block turns: a warp is one column of `in`
constexpr int ROWS = 8;   // rows of threads in a block; a thread takes every 8th column of `in`

// in is M × N, out is N × M, both row-major: out[column][row] = in[row][column].
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out,
                                     int M, int N)
{
    const int tiles_across = (N + TILE - 1) / TILE;
    const int tile_row = blockIdx.x / tiles_across * TILE;     // where the square begins in `in`
    const int tile_column = blockIdx.x % tiles_across * TILE;

    const int row = tile_row + threadIdx.x;
    for (int step = 0; step < TILE; step += ROWS) {
        const int column = tile_column + threadIdx.y + step;
        if (row < M && column < N) {
            out[size_t(column) * M + row] = in[size_t(row) * N + column];
        }
    }
}
