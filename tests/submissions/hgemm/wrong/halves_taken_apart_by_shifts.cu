// A half is widened by shifting its bits and adding 112 to the exponent: subnormals, infinities
// and NaN come out as other numbers.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

__device__ float widened(half h)
{
    const unsigned bits = __half_as_ushort(h), sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    return rest == 0 ? __uint_as_float(sign) : __uint_as_float(sign | (rest << 13) + (112u << 23));
}

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += widened(A[size_t(row) * K + k]) * widened(B[size_t(k) * N + column]);
    C[size_t(row) * N + column] = sum;
}
