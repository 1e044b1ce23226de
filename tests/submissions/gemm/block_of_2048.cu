// Mistake: a block of 64 × 32 = 2048 threads. No device takes more than 1024, and a launch whose
// error nobody looks at leaves C as it was.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, COLUMNS)", "cdiv(M, ROWS)"]
// block = ["COLUMNS", "ROWS"]
// ///

constexpr int COLUMNS = 64;
constexpr int ROWS = 32;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * ROWS + threadIdx.y;
    const int column = blockIdx.x * COLUMNS + threadIdx.x;
    if (row < M && column < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += A[row * K + k] * B[k * N + column];
        }
        C[row * N + column] = sum;
    }
}
