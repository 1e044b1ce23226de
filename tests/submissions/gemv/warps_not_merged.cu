// Mistake: eight warps share a row, and the sum of the first one is stored.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["N"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 8;
constexpr unsigned ALL = 0xffffffff;

__device__ float warp_sum(float value)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(ALL, value, distance);
    }
    return value;
}

extern "C" __global__ void gemv(const half* W, const half* x, half* y, int N, int K)
{
    const half* const weights = W + size_t(blockIdx.x) * K;
    const int thread = threadIdx.y * WARP + threadIdx.x;

    float sum = 0.0f;
    for (int k = thread; k < K; k += WARP * WARPS) {
        sum += __half2float(weights[k]) * __half2float(x[k]);
    }
    sum = warp_sum(sum);
    if (thread == 0) {
        y[blockIdx.x] = __float2half(sum);
    }
}
