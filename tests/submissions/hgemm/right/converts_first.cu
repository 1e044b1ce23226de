// Both matrices are widened to floats in scratch memory; the product is one in single precision.
//
// /// launch
// [[scratch]]
// name = "a"
// dtype = "float32"
// shape = ["M", "K"]
//
// [[scratch]]
// name = "b"
// dtype = "float32"
// shape = ["K", "N"]
//
// [[launch]]
// kernel = "widen"
// args = ["A", "a", "M", "K"]
// grid = ["cdiv(M * K, 256)"]
// block = [256]
//
// [[launch]]
// kernel = "widen"
// args = ["B", "b", "K", "N"]
// grid = ["cdiv(K * N, 256)"]
// block = [256]
//
// [[launch]]
// kernel = "product"
// args = ["a", "b", "C", "M", "N", "K"]
// grid = ["cdiv(M, 16) * cdiv(N, 16)"]
// block = [16, 16]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void widen(const half* from, float* to, int rows, int columns)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i < size_t(rows) * columns) to[i] = float(from[i]);
}

extern "C" __global__ void product(const float* a, const float* b, float* C, int M, int N, int K)
{
    const int across = (N + 15) / 16;
    const int row = blockIdx.x / across * 16 + threadIdx.y, column = blockIdx.x % across * 16 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[size_t(row) * K + k] * b[size_t(k) * N + column];
    C[size_t(row) * N + column] = sum;
}
