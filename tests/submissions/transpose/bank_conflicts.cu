// Slow: a warp reads a column of the tile, and all 32 elements of it lie in one bank.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "ROWS"]
// ///

constexpr int TILE = 32, ROWS = 8;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[TILE][TILE];

    const int across = (N + TILE - 1) / TILE, x = threadIdx.x;
    const int top = blockIdx.x / across * TILE, left = blockIdx.x % across * TILE;
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        if (top + y < M && left + x < N) {
            tile[y][x] = in[size_t(top + y) * N + left + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        if (top + x < M && left + y < N) {
            out[size_t(left + y) * M + top + x] = tile[x][y];
        }
    }
}
