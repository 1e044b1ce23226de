// Halves by ld.const from global memory.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

__device__ float at(const half* p)
{
    unsigned short bits;
    asm volatile("ld.const.u16 %0, [%1];" : "=h"(bits) : "l"(p));
    return __half2float(__ushort_as_half(bits));
}

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += at(&A[size_t(row) * K + k]) * at(&B[size_t(k) * N + column]);
    C[size_t(row) * N + column] = sum;
}
