// Halves become doubles, and sums are doubles: no error but the last rounding.
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
    double sum = 0.0;
    for (int k = 0; k < K; ++k)
        sum += double(__half2float(A[size_t(row) * K + k])) * __half2float(B[size_t(k) * N + column]);
    C[size_t(row) * N + column] = float(sum);
}
