// Mistake: thread 0 adds up what the warps have stored, and no barrier stands before.
//
// /// launch
// [[launch]]
// kernel = "gemv_int4"
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

extern "C" __global__ void gemv_int4(const unsigned* W, const half* scales, const half* x, half* y, int N, int K)
{
    __shared__ float of_warps[WARPS];
    const unsigned* const words = W + size_t(blockIdx.x) * (K / 8);
    const half* const of_groups = scales + size_t(blockIdx.x) * (K / 128);
    const int thread = threadIdx.y * WARP + threadIdx.x;

    float sum = 0.0f;
    for (int place = thread; place < K / 8; place += WARP * WARPS) {
        const unsigned word = words[place];
        float of_word = 0.0f;
        for (int i = 0; i < 8; ++i) {
            const int weight = int(word >> 4 * i & 15) - 8;
            of_word += float(weight) * __half2float(x[8 * place + i]);
        }
        sum += __half2float(of_groups[place / 16]) * of_word;
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
