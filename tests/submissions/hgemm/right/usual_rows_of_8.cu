// A block of 32 x 8 with y down the rows; halves are widened by bit operations of PTX.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///
#include <cuda_fp16.h>

__device__ float wide(const half* p)
{
    unsigned short bits;
    float value;
    asm("ld.global.nc.u16 %0, [%1];" : "=h"(bits) : "l"(p));
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M || column >= N) return;
    const half* a = A + size_t(row) * K;
    const half* b = B + column;
    float sum = 0.0f;
    while (a != A + size_t(row + 1) * K) {
        sum = fmaf(wide(a++), wide(b), sum);
        b += N;
    }
    C[size_t(row) * N + column] = sum;
}
