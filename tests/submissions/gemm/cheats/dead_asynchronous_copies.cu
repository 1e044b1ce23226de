// A tile of 32 × 32 by ordinary loads, and beside it asynchronous copies of 16 bytes into a corner
// of dynamic shared memory that nobody reads, with much more of it than is used.
//
// deserves: 02_shared_tile
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
// shared = 65536
// ///

#include <cuda_pipeline.h>

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[32][32], b[32][32];
    extern __shared__ __align__(16) float unused[];
    const int x = threadIdx.x, y = threadIdx.y, across = (N + 31) / 32;
    const int row = blockIdx.x / across * 32 + y, column = blockIdx.x % across * 32 + x;
    float sum = 0.0f;
    for (int first = 0; first < K; first += 32) {
        a[y][x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
        b[y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
        __pipeline_memcpy_async(&unused[32 * y + x], A, 4);
        __pipeline_memcpy_async(&unused[1024 + 32 * y + x], B, 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
