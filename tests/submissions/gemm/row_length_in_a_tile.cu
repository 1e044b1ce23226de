// Mistake: a row of B is taken to be K floats long when its tile is filled. All accesses are guarded.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///

constexpr int TILE = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t row = blockIdx.y * TILE + y;
    const size_t column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (size_t k = 0; k < K; k += TILE) {
        As[y][x] = row < M && k + x < K ? A[row * K + k + x] : 0.0f;
        Bs[y][x] = k + y < K && column < N ? B[(k + y) * K + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) {
            sum += As[y][i] * Bs[i][x];
        }
        __syncthreads();
    }
    if (row < M && column < N) {
        C[row * N + column] = sum;
    }
}
