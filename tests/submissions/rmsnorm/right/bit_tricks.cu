// A BF16 is the upper half of a float: widened by a shift, and rounded to the nearest, ties to even, by an
// addition.
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

__device__ float wide(__nv_bfloat16 value)
{
    return __uint_as_float(unsigned(__bfloat16_as_ushort(value)) << 16);
}

__device__ __nv_bfloat16 nearest(float value)
{
    const unsigned bits = __float_as_uint(value);
    const unsigned short upper = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return __ushort_as_bfloat16(value == value ? upper : 0x7fff);
}

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
    for (int column = threadIdx.x; column < N; column += WARP) {
        const float s = wide(x[start + column]) + wide(residual[start + column]);
        const __nv_bfloat16 stored = nearest(s);
        sum[start + column] = stored;
        squares += wide(stored) * wide(stored);
    }
    const float scale = rsqrtf(warp_sum(squares) / N + eps);

    for (int column = threadIdx.x; column < N; column += WARP) {
        const float normal = wide(sum[start + column]) * scale;
        y[start + column] = nearest(normal * wide(gamma[column]));
    }
}
