// Mistake: the loop ends at K - 1, so the last product of every sum is missing. With random data
// and a large K the result looks nearly right.
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
        for (int k = 0; k < K - 1; ++k) {
            sum += A[row * K + k] * B[k * N + column];
        }
        C[row * N + column] = sum;
    }
}
