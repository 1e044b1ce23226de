// Wrong: the index into C is an int, which ends at 2^31 - 1.
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
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    if (row < M && column < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
        }
        C[row * N + column] = sum;
    }
}
