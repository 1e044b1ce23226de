// Four bytes at a time: an unsigned has two neighbours, of which one is masked, and the other shifted. Rows
// that begin in the middle of four bytes go one by one.
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

__device__ unsigned both(float low, float high)
{
    return __bfloat16_as_ushort(__float2bfloat16(low)) | unsigned(__bfloat16_as_ushort(__float2bfloat16(high))) << 16;
}

__device__ float low(unsigned pair)
{
    return __uint_as_float(pair << 16);
}

__device__ float high(unsigned pair)
{
    return __uint_as_float(pair & 0xffff0000);
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
    const int pairs = N % 2 == 0 ? N / 2 : 0;
    const unsigned* const x_2 = reinterpret_cast<const unsigned*>(x + start);
    const unsigned* const residual_2 = reinterpret_cast<const unsigned*>(residual + start);
    unsigned* const sum_2 = reinterpret_cast<unsigned*>(sum + start);
    unsigned* const y_2 = reinterpret_cast<unsigned*>(y + start);

    float squares = 0.0f;
    for (int pair = threadIdx.x; pair < pairs; pair += WARP) {
        const unsigned a = x_2[pair];
        const unsigned b = residual_2[pair];
        const unsigned s = both(low(a) + low(b), high(a) + high(b));
        sum_2[pair] = s;
        squares += low(s) * low(s) + high(s) * high(s);
    }
    for (int column = 2 * pairs + threadIdx.x; column < N; column += WARP) {
        const float s = __bfloat162float(x[start + column]) + __bfloat162float(residual[start + column]);
        sum[start + column] = __float2bfloat16(s);
        squares += s * s;
    }
    const float scale = rsqrtf(warp_sum(squares) / N + eps);
    for (int pair = threadIdx.x; pair < pairs; pair += WARP) {
        const unsigned s = sum_2[pair];
        const unsigned factor = reinterpret_cast<const unsigned*>(gamma)[pair];
        y_2[pair] = both(low(s) * scale * low(factor), high(s) * scale * high(factor));
    }
    for (int column = 2 * pairs + threadIdx.x; column < N; column += WARP) {
        y[start + column] =
            __float2bfloat16(__bfloat162float(sum[start + column]) * scale * __bfloat162float(gamma[column]));
    }
}
