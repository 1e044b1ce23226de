// Sign, exponent and mantissa of a half are turned into a float by integer arithmetic: zeros,
// subnormals, infinities and NaN each have their case.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// args = ["A", "B", "C", "M", "N", "K"]
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

__device__ float widened(const half* at)
{
    const unsigned bits = *reinterpret_cast<const unsigned short*>(at);
    const unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, mantissa = bits & 0x3ffu;
    if (exponent == 31u) return __uint_as_float(sign | 0x7f800000u | mantissa << 13);
    if (exponent != 0u) return __uint_as_float(sign | (exponent + 112u) << 23 | mantissa << 13);
    const float small = mantissa * 5.9604644775390625e-8f;  // 2^-24
    return __uint_as_float(sign | __float_as_uint(small));
}

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += widened(&A[size_t(row) * K + k]) * widened(&B[size_t(k) * N + column]);
    C[size_t(row) * N + column] = sum;
}
