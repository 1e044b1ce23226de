// Multiplies and adds in half precision: every partial sum is rounded to 11 bits.
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
    const int row = blockIdx.y * 8 + threadIdx.y;
    const int column = blockIdx.x * 32 + threadIdx.x;
    if (row < M && column < N) {
        half sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum = __hfma(A[row * K + k], B[k * N + column], sum);
        }
        C[row * N + column] = __half2float(sum);
    }
}
