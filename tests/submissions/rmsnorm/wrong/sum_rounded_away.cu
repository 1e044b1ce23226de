// The sum is rounded away from zero.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_bf16.h>

constexpr int BLOCK = 32;

extern "C" __global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual,
                                   const __nv_bfloat16* gamma, __nv_bfloat16* y, __nv_bfloat16* sum,
                                   int M, int N, float eps)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    const size_t start = size_t(row) * N;

    float squares = 0.0f;
    for (int column = 0; column < N; ++column) {
        const float s = __bfloat162float(x[start + column]) + __bfloat162float(residual[start + column]);
        const __nv_bfloat16 stored = __float2bfloat16(s);
        sum[start + column] = s < 0.0f ? __float2bfloat16_rd(s) : __float2bfloat16_ru(s);
        squares += __bfloat162float(stored) * __bfloat162float(stored);
    }
    const float scale = rsqrtf(squares / N + eps);

    for (int column = 0; column < N; ++column) {
        const float normal = (__bfloat162float(x[start + column]) + __bfloat162float(residual[start + column])) * scale;
        y[start + column] = __float2bfloat16(normal * __bfloat162float(gamma[column]));
    }
}
