// Wrong: the grid ends at 128 blocks a side, and no thread goes on behind them.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["min(cdiv(N, BLOCK), 128)", "min(cdiv(M, BLOCK), 128)"]
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
        C[size_t(row) * N + column] = sum;
    }
}
