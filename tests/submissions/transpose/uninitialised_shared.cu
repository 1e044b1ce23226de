// Mistake: the loop that fills the tile ends one step too early, so its last 8 rows are never
// filled. What is read from there is left over from whoever used this memory before.
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
    for (int y = threadIdx.y; y < TILE - ROWS; y += ROWS) {
        if (row + y < M && column + x < N) {
            tile[y][x] = in[(row + y) * N + column + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        if (row + x < M && column + y < N) {
            out[(column + y) * M + row + x] = tile[x][y];
        }
    }
}
