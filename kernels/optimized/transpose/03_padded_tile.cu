// One unused word at the end of each row of the tile puts the elements of a column into different
// banks. They now lie 33 words apart, and 33 modulo 32 is 1: each is in the bank next to that of the
// one above, so the 32 elements of a column are in 32 banks.
//
// What it should buy: not one bank conflict where there were 31 a request, everything else
// unchanged. A read of the tile takes one turn whether along a row or a column. The price is 128
// bytes of shared memory a block.
//
// Source: G. Ruetsch and P. Micikevicius, "Optimizing Matrix Transpose in CUDA", NVIDIA, 2009.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "ROWS"]
// ///

constexpr int TILE = 32;  // side of the square that a block turns; a warp is a row, in both matrices
constexpr int ROWS = 8;   // rows of threads in a block; a thread takes every 8th row, 4 elements
constexpr int PAD = 1;    // unused words at the end of a row; any odd number spreads a column

// in is M × N, out is N × M, both row-major: out[column][row] = in[row][column].
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out,
                                     int M, int N)
{
    __shared__ float tile[TILE][TILE + PAD];  // the square as it stands in `in`

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
    __syncthreads();  // the tile is complete

    for (int step = 0; step < TILE; step += ROWS) {
        const int y = threadIdx.y + step;
        const int row = tile_row + x;
        const int column = tile_column + y;
        if (row < M && column < N) {
            out[size_t(column) * M + row] = tile[x][y];
        }
    }
}
