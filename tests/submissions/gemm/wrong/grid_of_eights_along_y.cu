// The naive product with columns of C along y, in blocks of 8: its grid ends at 524,280 columns, where
// those of others in the workbook go twice as far.
//
// reason: cannot be launched: a grid of .* blocks in y
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 32)", "cdiv(N, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.x * 32 + threadIdx.x;
    const int column = blockIdx.y * 8 + threadIdx.y;
    if (row >= M || column >= N) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    }
    C[size_t(row) * N + column] = sum;
}
