// Mistake: a thread computes two rows and asks whether both are inside. Where M is odd, the last
// row is computed by nobody.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, 2 * BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int BLOCK = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = 2 * (blockIdx.y * BLOCK + threadIdx.y);
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row + 1 < M && column < N) {
        float upper = 0.0f;
        float lower = 0.0f;
        for (int k = 0; k < K; ++k) {
            const float b = B[k * N + column];
            upper += A[row * K + k] * b;
            lower += A[(row + 1) * K + k] * b;
        }
        C[row * N + column] = upper;
        C[(row + 1) * N + column] = lower;
    }
}
