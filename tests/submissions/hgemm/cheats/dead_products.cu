// A product of halves without Tensor Cores, beside products on them whose sums are thrown away.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0.0f;
    float dead[4] = {};
    for (int k = 0; k < K; ++k) {
        if (row < M && column < N) {
            sum += __half2float(A[size_t(row) * K + k]) * __half2float(B[size_t(k) * N + column]);
        }
        if (k % 64 == 0) {
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
                         "{%4, %4}, {%0, %1, %2, %3};"
                         : "+f"(dead[0]), "+f"(dead[1]), "+f"(dead[2]), "+f"(dead[3])
                         : "r"(k));
        }
    }
    if (row < M && column < N) {
        C[size_t(row) * N + column] = sum;
    }
}
