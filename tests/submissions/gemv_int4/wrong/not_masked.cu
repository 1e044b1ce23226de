// The bits above a weight are not cut off.
//
// /// launch
// [[launch]]
// kernel = "gemv_int4"
// grid = ["cdiv(N, WARPS)"]
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

extern "C" __global__ void gemv_int4(const unsigned* W, const half* scales, const half* x, half* y, int N, int K)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= N) {
        return;
    }
    const unsigned* const words = W + size_t(row) * (K / 8);
    const half* const of_groups = scales + size_t(row) * (K / 128);

    float sum = 0.0f;
    for (int place = threadIdx.x; place < K / 8; place += WARP) {
        const unsigned word = words[place];
        float of_word = 0.0f;
        for (int i = 0; i < 8; ++i) {
            const int weight = int(word >> 4 * i) - 8;
            of_word += float(weight) * __half2float(x[8 * place + i]);
        }
        sum += __half2float(of_groups[place / 16]) * of_word;
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        y[row] = __float2half(sum);
    }
}
