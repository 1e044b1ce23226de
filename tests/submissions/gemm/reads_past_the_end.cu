// Mistake: the operands of the next step are fetched ahead, in the last step too, where there is no
// next one: the fetches run past the end of A and B. The result is right. On a GPU the reads mostly
// go unnoticed, until the matrix ends where mapped memory ends.
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
        float a = A[row * K];
        float b = B[column];
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            const float next_a = A[row * K + k + 1];
            const float next_b = B[(k + 1) * N + column];
            sum += a * b;
            a = next_a;
            b = next_b;
        }
        C[row * N + column] = sum;
    }
}
