// A block turns a square of 32 × 32 elements, reading it row by row: the 32 threads of a warp read
// 32 neighbours of one row of `in`, and write them where they belong, into one column of `out`.
//
// What it costs: the reads are perfect, 128 bytes or 4 full sectors a request. The writes of one
// warp lie a whole row of `out` (4·M bytes) apart, so one store request touches 32 sectors and
// fills 4 bytes of each: for every sector read, eight are written.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "ROWS"]
// ///

constexpr int TILE = 32;  // side of the square that a block turns: a warp is one row of it
constexpr int ROWS = 8;   // rows of threads in a block; a thread takes every 8th row, 4 elements

// in is M × N, out is N × M, both row-major: out[column][row] = in[row][column]. __restrict__
// promises that the two do not overlap, so all four reads of a thread may start before its first
// write.
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out,
                                     int M, int N)
{
    // The grid has one dimension, because its second one ends at 65,535 blocks, which 2.1 million
    // rows would exceed. Consecutive blocks are neighbours in a row of squares of `in`.
    const int tiles_across = (N + TILE - 1) / TILE;
    const int tile_row = blockIdx.x / tiles_across * TILE;     // where the square begins in `in`
    const int tile_column = blockIdx.x % tiles_across * TILE;

    const int column = tile_column + threadIdx.x;
    for (int step = 0; step < TILE; step += ROWS) {
        const int row = tile_row + threadIdx.y + step;
        if (row < M && column < N) {
            // Indices are formed in 64 bits (size_t): 65,536² elements no longer fit an int.
            out[size_t(column) * M + row] = in[size_t(row) * N + column];
        }
    }
}
