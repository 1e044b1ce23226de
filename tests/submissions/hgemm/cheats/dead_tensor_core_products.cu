// The sums are FFMAs of floats; beside them, warps do mma.sync on whatever registers hold, and the
// results are kept alive by a store that never happens.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    const bool inside = row < M && column < N;
    float sum = 0.0f, dead[4] = {};
    for (int k = 0; k < K; ++k) {
        if (inside) sum += __half2float(A[size_t(row) * K + k]) * __half2float(B[size_t(k) * N + column]);
        if (k % 16 == 0)
            for (int turn = 0; turn < 4; ++turn)
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
                             "{%0,%1,%2,%3};"
                             : "+f"(dead[0]), "+f"(dead[1]), "+f"(dead[2]), "+f"(dead[3])
                             : "r"(k));
    }
    if (inside) C[size_t(row) * N + column] = dead[0] == 12345.678f ? dead[1] : sum;
}
