// Products with a zero of A are left out: 0 · NaN and 0 · ∞ are NaN, and C loses them.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        const float a = A[size_t(row) * K + k];
        if (a != 0.0f) sum += a * B[size_t(k) * N + column];
    }
    C[size_t(row) * N + column] = sum;
}
