// The block's rows share 1024 elements of x at a time, which are staged in shared memory as floats.
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
    const size_t within = min(row, N - 1);
    const unsigned* const words = W + within * (K / 8);
    const half* const of_groups = scales + within * (K / 128);
    __shared__ float staged[1024];

    float sum = 0.0f;
    for (int begin = 0; begin < K; begin += 1024) {
        const int count = min(1024, K - begin);
        __syncthreads();
        for (int i = threadIdx.y * WARP + threadIdx.x; i < count; i += WARP * WARPS) {
            staged[i] = __half2float(x[begin + i]);
        }
        __syncthreads();
        for (int place = begin / 8 + threadIdx.x; place < (begin + count) / 8; place += WARP) {
            const unsigned word = words[place];
            float of_word = 0.0f;
            for (int i = 0; i < 8; ++i) {
                const int weight = int(word >> 4 * i & 15) - 8;
                of_word += float(weight) * staged[8 * place - begin + i];
            }
            sum += __half2float(of_groups[place / 16]) * of_word;
        }
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0 && row < N) {
        y[row] = __float2half(sum);
    }
}
