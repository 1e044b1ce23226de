// Whole halves are multiplied as integers, where the counted data are whole numbers: no FFMA, and
// the rest as doubles.
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
    if (row >= M || column >= N) return;
    long long whole = 0;
    double sum = 0.0;
    for (int k = 0; k < K; ++k) {
        const float a = __half2float(A[size_t(row) * K + k]), b = __half2float(B[size_t(k) * N + column]);
        if (fabsf(a) < 100.0f && fabsf(b) < 100.0f && a == rintf(a) && b == rintf(b)) whole += int(a) * int(b);
        else sum += double(a) * b;
    }
    C[size_t(row) * N + column] = float(sum + double(whole));
}
