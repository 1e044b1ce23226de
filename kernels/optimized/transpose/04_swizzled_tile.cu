// No padding: instead, row y of the tile keeps its element x at place x ^ y (exclusive or). Within
// a row this only changes the order, so rows stay free of conflicts; and down a column the places
// x ^ 0, x ^ 1, … x ^ 31 are all different, so the column is spread over the 32 banks as well.
//
// What it should buy: no conflicts, as with padding, and no byte of shared memory beyond the tile
// itself. By itself this saves no time. It is worth having because rows of 32 words start at
// multiples of 16 bytes and rows of 33 do not: 128-bit accesses, the next rung, need that.
//
// /// launch
// side_step = true
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "ROWS"]
// ///

// Side of the square that a block turns: a warp is one row of it, in `in` and in `out`. It has to
// be a power of two, or else x ^ y would lead out of the row.
constexpr int TILE = 32;
static_assert((TILE & (TILE - 1)) == 0, "x ^ y stays below a power of two only");
constexpr int ROWS = 8;  // rows of threads in a block; a thread takes every 8th row, 4 elements

// in is M × N, out is N × M, both row-major: out[column][row] = in[row][column].
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out,
                                     int M, int N)
{
    __shared__ float tile[TILE][TILE];  // the square as it stands in `in`, row y permuted by x ^ y

    const int tiles_across = (N + TILE - 1) / TILE;
    const int tile_row = blockIdx.x / tiles_across * TILE;     // where the square begins in `in`
    const int tile_column = blockIdx.x % tiles_across * TILE;

    const int x = threadIdx.x;
    for (int step = 0; step < TILE; step += ROWS) {
        const int y = threadIdx.y + step;
        const int row = tile_row + y;
        const int column = tile_column + x;
        if (row < M && column < N) {
            tile[y][x ^ y] = in[size_t(row) * N + column];
        }
    }
    __syncthreads();  // the tile is complete

    for (int step = 0; step < TILE; step += ROWS) {
        const int y = threadIdx.y + step;
        const int row = tile_row + x;
        const int column = tile_column + y;
        if (row < M && column < N) {
            out[size_t(column) * M + row] = tile[x][y ^ x];  // element y of row x
        }
    }
}
