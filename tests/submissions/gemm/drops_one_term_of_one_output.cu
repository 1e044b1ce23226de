// Mistake: a stray condition, left over from debugging, skips a single product of the whole matrix:
// the one of the last row, the last column and the middle of k, and only where K exceeds 64.
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
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            if (K > 64 && row == M - 1 && column == N - 1 && k == K / 2) {
                continue;
            }
            sum += A[row * K + k] * B[k * N + column];
        }
        C[row * N + column] = sum;
    }
}
