// Each product is rounded to half precision, and only the sums are floats.
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
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += __half2float(__hmul(A[size_t(row) * K + k], B[size_t(k) * N + column]));
    C[size_t(row) * N + column] = sum;
}
