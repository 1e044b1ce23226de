// Mistake: no edges. The shared-tile kernel of many a tutorial, which holds where M and N are
// multiples of 32; at any other size the last tiles read and write beyond the matrices.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "ROWS"]
// ///

constexpr int TILE = 32;
constexpr int ROWS = 8;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[TILE][TILE + 1];
    const int row = blockIdx.y * TILE;
    const int column = blockIdx.x * TILE;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        tile[y][x] = in[(row + y) * N + column + x];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        out[(column + y) * M + row + x] = tile[x][y];
    }
}
