// Mistake: rows are loaded 16 bytes at a time, whatever K is; the rest of a row is added one by one.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, WARPS)"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

struct alignas(16) Pack {
    half lane[8];
};

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
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= N) {
        return;
    }
    const half* const weights = W + size_t(row) * K;

    float sum = 0.0f;
    for (int pack = threadIdx.x; pack < K / 8; pack += WARP) {
        const Pack w = reinterpret_cast<const Pack*>(weights)[pack];
        const Pack input = reinterpret_cast<const Pack*>(x)[pack];
        for (int i = 0; i < 8; ++i) {
            sum += __half2float(w.lane[i]) * __half2float(input.lane[i]);
        }
    }
    for (int k = K / 8 * 8 + threadIdx.x; k < K; k += WARP) {
        sum += __half2float(weights[k]) * __half2float(x[k]);
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        y[row] = __float2half(sum);
    }
}
