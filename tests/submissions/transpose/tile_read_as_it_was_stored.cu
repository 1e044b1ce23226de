// Mistake: the tile is read by the indices it was stored by, so that only whole squares change places.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///
constexpr int TILE = 16;
extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (y < M && x < N)
        tile[threadIdx.y][threadIdx.x] = in[size_t(y) * N + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (y < N && x < M)
        out[size_t(y) * M + x] = tile[threadIdx.y][threadIdx.x];
}
