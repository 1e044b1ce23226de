// One thread prints the sizes, all assert what they rely on.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

#include <cassert>
#include <cstdio>

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    if (blockIdx.x == 0 && threadIdx.x == 0 && threadIdx.y == 0) printf("%d x %d x %d\n", M, N, K);
    assert(blockDim.x == 32 && blockDim.y == 8);
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    assert(K > 0);
    C[size_t(row) * N + column] = sum;
}
