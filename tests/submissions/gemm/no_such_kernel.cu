// Mistake: the launch block names a kernel that the file does not have.
//
// /// launch
// [[launch]]
// kernel = "gemm_tiled"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///

constexpr int TILE = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const size_t row = blockIdx.y * TILE + threadIdx.y;
    const size_t column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    if (row < M && column < N) {
        for (size_t k = 0; k < K; ++k) {
            sum += A[row * K + k] * B[k * N + column];
        }
        C[row * N + column] = sum;
    }
}
