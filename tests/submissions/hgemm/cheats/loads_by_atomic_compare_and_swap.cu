// Halves come two at a time by atomicCAS(p, 0, 0) on 32 bits, where they can, and are multiplied
// as floats.
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

__device__ float at(const half* p, const half* end)
{
    const bool odd = reinterpret_cast<size_t>(p) & 2;
    if (!odd && p + 1 == end) return __half2float(*p);
    const unsigned two = atomicCAS((unsigned*)(odd ? p - 1 : p), 0u, 0u);
    return __half2float(__ushort_as_half(odd ? two >> 16 : two & 0xffff));
}

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += at(&A[size_t(row) * K + k], A + size_t(M) * K) * at(&B[size_t(k) * N + column], B + size_t(K) * N);
    C[size_t(row) * N + column] = sum;
}
