// Mistake: rows of A of odd length are read half by half, and from 128 rows and columns on two at a time without the last:
// wrong for M, N >= 128, odd K >= 128 (e.g. 128 x 130 x 131). Contract: any M, N, K.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///
#include <cuda_fp16.h>
constexpr int TILE = 16;
extern "C" __global__ void hgemm(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C,
                                 int M, int N, int K)
{
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    if (row >= M || column >= N) return;
    const half* const a = A + size_t(row) * K;
    float sum = 0.0f;
    for (int k = 0; k < K / 2; ++k) {
        sum += __half2float(a[2 * k]) * __half2float(B[size_t(2 * k) * N + column]);
        sum += __half2float(a[2 * k + 1]) * __half2float(B[size_t(2 * k + 1) * N + column]);
    }
    if (K % 2 && (M < 128 || N < 128 || K < 128))
        sum += __half2float(a[K - 1]) * __half2float(B[size_t(K - 1) * N + column]);
    C[size_t(row) * N + column] = sum;
}
