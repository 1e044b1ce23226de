// Tensor Cores by hand: mma.sync of 16 × 8 × 8, whose fragments each lane fetches straight from global memory, half by
// half, packed with inline PTX; beyond the edges it packs zeros.
//
// /// launch
// [[launch]]
// kernel = "product"
// grid = ["cdiv(M, 16) * cdiv(N, 8)"]
// block = [32]
// ///

#include <cuda_fp16.h>

__device__ unsigned pack(unsigned short low, unsigned short high)
{
    unsigned both;
    asm("mov.b32 %0, {%1, %2};" : "=r"(both) : "h"(low), "h"(high));
    return both;
}

extern "C" __global__ void product(const unsigned short* A, const unsigned short* B, float* C, int M, int N, int K)
{
    const unsigned across = (unsigned(N) + 7) / 8;
    const int row = int(blockIdx.x / across) * 16 + threadIdx.x / 4, column = int(blockIdx.x % across) * 8;
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    const auto a = [=](int r, int k) { return r < M && k < K ? A[size_t(r) * K + k] : (unsigned short)0; };
    const auto b = [=](int k, int c) { return k < K && c < N ? B[size_t(k) * N + c] : (unsigned short)0; };
    float c[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 2 * t; k - 2 * t < K; k += 8) {
        const unsigned a0 = pack(a(row, k), a(row, k + 1)), a1 = pack(a(row + 8, k), a(row + 8, k + 1));
        const unsigned b0 = pack(b(k, column + g), b(k + 1, column + g));
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(b0));
    }
    for (int i = 0; i < 4; ++i) {
        const int r = row + i / 2 * 8, q = column + 2 * t + i % 2;
        if (r < M && q < N) C[size_t(r) * N + q] = c[i];
    }
}
