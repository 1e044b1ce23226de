// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, 64)", "cdiv(M, 4 * ROWS)"]
// block = [64, 4]
// ///

constexpr int ROWS = 4;  // of a thread

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int column = blockIdx.x * 64 + threadIdx.x;
    const int row = (blockIdx.y * 4 + threadIdx.y) * ROWS;
    if (column >= N) {
        return;
    }

    float sum[ROWS];  //!
    for (int k = 0; k < K; ++k) {
        const float b = B[size_t(k) * N + column];
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            if (row + i < M) {
                sum[i] += A[size_t(row + i) * K + k] * b;  //~
            }
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        if (row + i < M) {
            C[size_t(row + i) * N + column] = sum[i];  //~
        }
    }
}
