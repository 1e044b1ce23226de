// Eight parts of K into scratch memory by one launch, their sum by another.
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = [8, "M", "N"]
//
// [[launch]]
// kernel = "parts_of"
// args = ["A", "B", "parts", "M", "N", "K"]
// grid = ["cdiv(M, 8) * cdiv(N, 32)", 1, 8]
// block = [32, 8]
//
// [[launch]]
// kernel = "add_up"
// args = ["parts", "C", "M", "N"]
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void parts_of(const half* A, const half* B, float* parts, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = blockIdx.z; k < K; k += 8)
        sum += __half2float(A[size_t(row) * K + k]) * __half2float(B[size_t(k) * N + column]);
    parts[(size_t(blockIdx.z) * M + row) * N + column] = sum;
}

extern "C" __global__ void add_up(const float* parts, float* C, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x, count = size_t(M) * N;
    if (i >= count) return;
    float sum = 0.0f;
    for (int part = 0; part < 8; ++part) sum += parts[part * count + i];
    C[i] = sum;
}
