// /// launch
// [[launch]]
// kernel = "layernorm_backward"
// grid = ["min(M, 132)"]
// block = [32, "WARPS"]
// zero = ["dgamma", "dbeta"]
// ///
#include <cuda_fp16.h>

constexpr int WARPS = 8;  // of a block

__device__ float2 warp_sum(float2 value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value.x += __shfl_xor_sync(0xffffffff, value.x, distance);
        value.y += __shfl_xor_sync(0xffffffff, value.y, distance);
    }
    return value;
}

extern "C" __global__ void layernorm_backward(const half* x, const half* dy, const half* gamma,
                                              const float* mean, const float* rstd, half* dx,
                                              float* dgamma, float* dbeta, int M, int N)
{
    __shared__ float2 values[WARPS];
    const int first = threadIdx.y * 32 + threadIdx.x;

    for (int row = blockIdx.x; row < M; row += gridDim.x) {
        const size_t start = size_t(row) * N;
        float2 sums = {0.0f, 0.0f};
        for (int column = first; column < N; column += 32 * WARPS) {
            const float n = (__half2float(x[start + column]) - mean[row]) * rstd[row];
            const float d = __half2float(dy[start + column]);
            const float g = d * __half2float(gamma[column]);
            sums.x += g;
            sums.y += g * n;
            atomicAdd(&dgamma[column], d * n);
            atomicAdd(&dbeta[column], d);
        }
        sums = warp_sum(sums);
        if (threadIdx.x == 0) {
            values[threadIdx.y] = sums;  //!
        }
        __syncthreads();
        sums = warp_sum(threadIdx.x < WARPS ? values[threadIdx.x] : float2{0.0f, 0.0f});  //~
        const float2 means = {sums.x / N, sums.y / N};

        for (int column = first; column < N; column += 32 * WARPS) {
            const float n = (__half2float(x[start + column]) - mean[row]) * rstd[row];
            const float g = __half2float(dy[start + column]) * __half2float(gamma[column]);
            dx[start + column] = __float2half((g - means.x - n * means.y) * rstd[row]);
        }
    }
}
