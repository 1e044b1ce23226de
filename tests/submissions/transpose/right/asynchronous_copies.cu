// Every element goes to shared memory by an asynchronous copy of 4 bytes; a thread waits for its
// own, then the block.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = ["T", 8]
// ///

#include <cuda_pipeline.h>

constexpr int T = 32;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[T][T + 1];
    const int across = (N + T - 1) / T, top = blockIdx.x / across * T, left = blockIdx.x % across * T;
    for (int y = threadIdx.y; y < T; y += 8)
        if (top + y < M && left + threadIdx.x < N)
            __pipeline_memcpy_async(&tile[y][threadIdx.x], &in[size_t(top + y) * N + left + threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int y = threadIdx.y; y < T; y += 8)
        if (left + y < N && top + threadIdx.x < M)
            out[size_t(left + y) * M + top + threadIdx.x] = tile[threadIdx.x][y];
}
