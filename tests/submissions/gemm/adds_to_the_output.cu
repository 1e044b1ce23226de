// Mistake: the sum is kept in C itself, which nobody has set to zero. Where fresh memory happens to
// hold zeros, the first run is right and the second one twice as large.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int BLOCK = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row < M && column < N) {
        for (int k = 0; k < K; ++k) {
            C[row * N + column] += A[row * K + k] * B[k * N + column];
        }
    }
}
