// A warp takes four rows, and only whole groups of them.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, 4 * WARPS)"]
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
    const int first = (blockIdx.x * WARPS + threadIdx.y) * 4;
    if (first + 4 > N) {
        return;
    }
    for (int row = first; row < first + 4; ++row) {
        float sum = 0.0f;
        for (int k = threadIdx.x; k < K; k += WARP) {
            sum += __half2float(W[size_t(row) * K + k]) * __half2float(x[k]);
        }
        sum = warp_sum(sum);
        if (threadIdx.x == 0) {
            y[row] = __float2half(sum);
        }
    }
}
