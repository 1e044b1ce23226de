// Mistake: thread 0 adds up what the warps have stored, and no barrier stands before.
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
    __shared__ float of_warps[WARPS];
    const half* const weights = W + size_t(blockIdx.x) * K;
    const int thread = threadIdx.y * WARP + threadIdx.x;

    float sum = 0.0f;
    for (int k = thread; k < K; k += WARP * WARPS) {
        sum += __half2float(weights[k]) * __half2float(x[k]);
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        of_warps[threadIdx.y] = sum;
    }
    if (thread == 0) {
        float total = 0.0f;
        for (int warp = 0; warp < WARPS; ++warp) {
            total += of_warps[warp];
        }
        y[blockIdx.x] = __float2half(total);
    }
}
