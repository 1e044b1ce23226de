// Mistake: the tile is not in shared memory, so that each thread has one of its own.
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
    float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (y < M && x < N)
        tile[threadIdx.y][threadIdx.x] = in[size_t(y) * N + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (y < N && x < M)
        out[size_t(y) * M + x] = tile[threadIdx.x][threadIdx.y];
}
