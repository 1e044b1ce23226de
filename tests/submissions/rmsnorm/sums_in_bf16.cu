// Mistake: the sum of the squares is a BF16, which stands still while small squares are added.
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

    __nv_bfloat16 squares = __float2bfloat16(0.0f);
    for (int column = 0; column < N; ++column) {
        const float s = __bfloat162float(x[start + column]) + __bfloat162float(residual[start + column]);
        const __nv_bfloat16 stored = __float2bfloat16(s);
        sum[start + column] = stored;
        const float square = __bfloat162float(stored) * __bfloat162float(stored);
        squares = __float2bfloat16(__bfloat162float(squares) + square);
    }
    const float scale = rsqrtf(__bfloat162float(squares) / N + eps);

    for (int column = 0; column < N; ++column) {
        const float normal = __bfloat162float(sum[start + column]) * scale;
        y[start + column] = __float2bfloat16(normal * __bfloat162float(gamma[column]));
    }
}
