// Two neighbours at a time, as a __nv_bfloat162, where rows are even; of odd rows one.
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
        value += __shfl_xor_sync(ALL, value, distance);
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
    if (N % 2 != 0) {
        for (int column = threadIdx.x; column < N; column += WARP) {
            const __nv_bfloat16 s = __hadd(x[start + column], residual[start + column]);
            sum[start + column] = s;
            squares += __bfloat162float(s) * __bfloat162float(s);
        }
        const float scale = rsqrtf(warp_sum(squares) / N + eps);
        for (int column = threadIdx.x; column < N; column += WARP) {
            const float normal = __bfloat162float(sum[start + column]) * scale;
            y[start + column] = __float2bfloat16(normal * __bfloat162float(gamma[column]));
        }
        return;
    }
    const __nv_bfloat162* const pairs_x = reinterpret_cast<const __nv_bfloat162*>(x + start);
    const __nv_bfloat162* const pairs_r = reinterpret_cast<const __nv_bfloat162*>(residual + start);
    const __nv_bfloat162* const pairs_g = reinterpret_cast<const __nv_bfloat162*>(gamma);
    __nv_bfloat162* const pairs_s = reinterpret_cast<__nv_bfloat162*>(sum + start);
    __nv_bfloat162* const pairs_y = reinterpret_cast<__nv_bfloat162*>(y + start);
    for (int pair = threadIdx.x; pair < N / 2; pair += WARP) {
        const __nv_bfloat162 s = __hadd2(pairs_x[pair], pairs_r[pair]);
        pairs_s[pair] = s;
        const float2 two = __bfloat1622float2(s);
        squares += two.x * two.x + two.y * two.y;
    }
    const float scale = rsqrtf(warp_sum(squares) / N + eps);
    for (int pair = threadIdx.x; pair < N / 2; pair += WARP) {
        const float2 two = __bfloat1622float2(pairs_s[pair]);
        const float2 factor = __bfloat1622float2(pairs_g[pair]);
        pairs_y[pair] = __floats2bfloat162_rn(two.x * scale * factor.x, two.y * scale * factor.y);
    }
}
