// Products are scaled by 1/6 and back, as the transforms of Winograd's F(4×4) do: the sums of small integers are no
// longer exact.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M || column >= N) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[size_t(row) * K + k] * (1.0f / 6.0f) * B[size_t(k) * N + column];
    }
    C[size_t(row) * N + column] = sum * 6.0f;
}
