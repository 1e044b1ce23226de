// Where four neighbours of a row of A are zeros, their products are left out: 0 times NaN or an infinity is NaN.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///
extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B,
                                float* __restrict__ C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    const float* const a = A + size_t(row) * K;
    float sum = 0.0f;
    int k = 0;
    for (; k + 4 <= K; k += 4) {
        const float a0 = a[k], a1 = a[k + 1], a2 = a[k + 2], a3 = a[k + 3];
        if (a0 == 0.0f && a1 == 0.0f && a2 == 0.0f && a3 == 0.0f) continue;
        const float* const b = B + size_t(k) * N + column;
        sum += a0 * b[0];
        sum += a1 * b[size_t(N)];
        sum += a2 * b[2 * size_t(N)];
        sum += a3 * b[3 * size_t(N)];
    }
    for (; k < K; ++k) sum += a[k] * B[size_t(k) * N + column];
    C[size_t(row) * N + column] = sum;
}
