// Mistake: the loop is unrolled by four, and where fewer than four steps are left k no longer
// advances: it runs for ever unless K is a multiple of 4.
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
        int k = 0;
        while (k < K) {
            if (k + 4 <= K) {
                for (int step = 0; step < 4; ++step) {
                    sum += A[row * K + k + step] * B[(k + step) * N + column];
                }
                k += 4;
            }
        }
        C[row * N + column] = sum;
    }
}
