// A warp takes a row. Its lanes stand side by side in it and take every 32nd product each. Their 32 sums
// are added up by shuffles, in five steps, and lane 0 stores the result.
//
// What it should buy: a load request touches two sectors in place of 32, as 32 neighbouring halves are 64
// bytes, and 32 times as many threads keep loads in flight.
//
// What it costs: x is read once for each row, as many bytes as W. It is small enough to stay in the L1
// cache, so this costs requests and no DRAM.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, WARPS)"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 8;  // of a block, and rows that it computes: 256 threads, eight blocks fill a multiprocessor

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// Lane 0 gets the sum of all 32 `value`s, the others get parts of it.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(ALL, value, distance);
    }
    return value;
}

// y = W · x. W is N × K, row-major, x has K elements, y has N.
extern "C" __global__ void __launch_bounds__(WARP * WARPS)
gemv(const half* __restrict__ W, const half* __restrict__ x, half* __restrict__ y, int N, int K)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= N) {
        return;  // the whole warp, so that all lanes of the others meet in the shuffles
    }
    const half* const weights = W + size_t(row) * K;

    float sum = 0.0f;
    for (int k = threadIdx.x; k < K; k += WARP) {
        sum += __half2float(weights[k]) * __half2float(x[k]);
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        y[row] = __float2half(sum);
    }
}
