// The naive product with columns of C along y, in blocks of 16: its grid ends at 65,535 · 16 columns,
// and it need be right no further.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 16)", "cdiv(N, 16)"]
// block = [16, 16]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.x * 16 + threadIdx.x;
    const int column = blockIdx.y * 16 + threadIdx.y;
    if (row >= M || column >= N) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    }
    C[size_t(row) * N + column] = sum;
}
