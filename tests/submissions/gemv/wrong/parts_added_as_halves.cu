// Four blocks share a row. Each adds its part to y as a half, by an atomic addition.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["N * 4"]
// block = ["WARP"]
// zero = ["y"]
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
    const int row = blockIdx.x / 4;
    const half* const weights = W + size_t(row) * K;

    float sum = 0.0f;
    const int share = (K + 3) / 4;
    for (int k = blockIdx.x % 4 * share + threadIdx.x; k < min(K, (blockIdx.x % 4 + 1) * share); k += WARP) {
        sum += __half2float(weights[k]) * __half2float(x[k]);
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        atomicAdd(y + row, __float2half(sum));
    }
}
