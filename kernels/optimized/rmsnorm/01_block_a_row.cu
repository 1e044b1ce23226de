// A block takes a row. Its threads walk along the row side by side. Their sums of squares are added up
// by shuffles in each warp, and those of the warps through shared memory, with one barrier.
//
// What it should buy: neighbours read neighbours, two sectors a request in place of 32, and 256 threads
// a row. The second reading of the sum comes from the caches.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["M"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_bf16.h>

constexpr int WARP = 32;
constexpr int WARPS = 8;  // of a block

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// Every thread of the warp gets the sum of all 32 `value`s.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL, value, distance);
    }
    return value;
}

// sum = x + residual, and y[i] = row i of sum / its root mean square · gamma. All but gamma, which has N
// elements, are M × N, row-major.
extern "C" __global__ void __launch_bounds__(WARP * WARPS)
rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
        const __nv_bfloat16* __restrict__ gamma, __nv_bfloat16* __restrict__ y, __nv_bfloat16* __restrict__ sum,
        int M, int N, float eps)
{
    __shared__ float of_warps[WARPS];
    const size_t start = size_t(blockIdx.x) * N;
    const int thread = threadIdx.y * WARP + threadIdx.x;

    float squares = 0.0f;  // of this thread's elements
    for (int column = thread; column < N; column += WARP * WARPS) {
        const float s = __bfloat162float(x[start + column]) + __bfloat162float(residual[start + column]);
        const __nv_bfloat16 stored = __float2bfloat16(s);
        sum[start + column] = stored;
        squares += __bfloat162float(stored) * __bfloat162float(stored);
    }
    const float of_warp = warp_sum(squares);
    if (threadIdx.x == 0) {
        of_warps[threadIdx.y] = of_warp;
    }
    __syncthreads();  // the sums of all warps are there
    const float of_row = warp_sum(threadIdx.x < WARPS ? of_warps[threadIdx.x] : 0.0f);
    const float scale = rsqrtf(of_row / N + eps);

    for (int column = thread; column < N; column += WARP * WARPS) {  // the elements that it has written
        const float normal = __bfloat162float(sum[start + column]) * scale;
        y[start + column] = __float2bfloat16(normal * __bfloat162float(gamma[column]));
    }
}
