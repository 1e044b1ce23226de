// Tensor Cores multiply by zero matrices, and their zeros are added to sums that are made without
// them.
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
    float sum = 0.0f, zeros[4] = {};
    for (int first = 0; first < K; first += 16) {
        for (int turn = 0; turn < 4; ++turn)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
                         "{%0,%1,%2,%3};"
                         : "+f"(zeros[0]), "+f"(zeros[1]), "+f"(zeros[2]), "+f"(zeros[3])
                         : "r"(0));
        for (int k = first; inside && k < min(K, first + 16); ++k)
            sum += __half2float(A[size_t(row) * K + k]) * __half2float(B[size_t(k) * N + column]);
    }
    if (inside) C[size_t(row) * N + column] = sum + zeros[0];
}
