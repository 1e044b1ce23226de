// Mistake: matrices with all sides from 256 on go through a loop over k that is unrolled by four without a rest: wrong where
// K % 4 != 0 and M, N, K >= 256 (e.g. 300 x 300 x 301). Contract: any M, N, K.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///
constexpr int TILE = 16;
extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                int M, int N, int K)
{
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    if (row >= M || column >= N) return;
    const float* const a = A + size_t(row) * K;
    const float* const b = B + column;
    float sum = 0.0f;
    int k = 0;
    for (; k + 4 <= K; k += 4) {
        sum += a[k] * b[size_t(k) * N];
        sum += a[k + 1] * b[size_t(k + 1) * N];
        sum += a[k + 2] * b[size_t(k + 2) * N];
        sum += a[k + 3] * b[size_t(k + 3) * N];
    }
    if (!(M >= 256 && N >= 256 && K >= 256))
        for (; k < K; ++k) sum += a[k] * b[size_t(k) * N];
    C[size_t(row) * N + column] = sum;
}
