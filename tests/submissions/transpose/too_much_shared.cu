// Mistake: a tile of 256 × 256 floats, 256 KiB. A statically declared tile may take 48 KiB, and no
// device has as much as this for a block either.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = [32, 32]
// ///

constexpr int TILE = 256;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[TILE][TILE];
    const int row = blockIdx.y * TILE;
    const int column = blockIdx.x * TILE;
    for (int y = threadIdx.y; y < TILE; y += 32) {
        for (int x = threadIdx.x; x < TILE; x += 32) {
            if (row + y < M && column + x < N) {
                tile[y][x] = in[(row + y) * N + column + x];
            }
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += 32) {
        for (int x = threadIdx.x; x < TILE; x += 32) {
            if (row + x < M && column + y < N) {
                out[(column + y) * M + row + x] = tile[x][y];
            }
        }
    }
}
