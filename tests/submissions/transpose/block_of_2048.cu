// Mistake: a block of 2048 threads, one for two elements of a tile of 64 × 64. No device takes more
// than 1024, and a launch whose error nobody looks at leaves out as it was.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE * TILE // 2"]
// ///

constexpr int TILE = 64;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    for (int i = threadIdx.x; i < TILE * TILE; i += TILE * TILE / 2) {
        const int row = blockIdx.y * TILE + i / TILE;
        const int column = blockIdx.x * TILE + i % TILE;
        if (row < M && column < N) {
            out[column * M + row] = in[row * N + column];
        }
    }
}
