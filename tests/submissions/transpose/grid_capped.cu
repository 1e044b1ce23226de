// Wrong: the grid ends at 4096 blocks, and no thread goes on behind them. Every small case needs
// fewer.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["min(cdiv(M, TILE) * cdiv(N, TILE), 4096)"]
// block = ["TILE", "TILE"]
// ///

constexpr int TILE = 32;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int across = (N + TILE - 1) / TILE;
    const int column = blockIdx.x % across * TILE + threadIdx.x;
    const int row = blockIdx.x / across * TILE + threadIdx.y;
    if (row < M && column < N) {
        out[size_t(column) * M + row] = in[size_t(row) * N + column];
    }
}
