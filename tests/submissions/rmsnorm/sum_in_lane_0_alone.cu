// Mistake: after __shfl_down_sync lane 0 alone has the sum, and all lanes go on with what they have.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["cdiv(M, WARPS)"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_bf16.h>

constexpr int WARP = 32;
constexpr int WARPS = 4;
constexpr unsigned ALL = 0xffffffff;

__device__ float warp_sum(float value)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(ALL, value, distance);
    }
    return value;
}

extern "C" __global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual,
                                   const __nv_bfloat16* gamma, __nv_bfloat16* y, __nv_bfloat16* sum,
                                   int M, int N, float eps)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= M) {
        return;
    }
    const size_t start = size_t(row) * N;

    float squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += WARP) {
        const float s = __bfloat162float(x[start + column]) + __bfloat162float(residual[start + column]);
        const __nv_bfloat16 stored = __float2bfloat16(s);
        sum[start + column] = stored;
        squares += __bfloat162float(stored) * __bfloat162float(stored);
    }
    const float scale = rsqrtf(warp_sum(squares) / N + eps);

    for (int column = threadIdx.x; column < N; column += WARP) {
        const float normal = __bfloat162float(sum[start + column]) * scale;
        y[start + column] = __float2bfloat16(normal * __bfloat162float(gamma[column]));
    }
}
