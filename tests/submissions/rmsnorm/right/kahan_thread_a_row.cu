// A thread a row, with Kahan's sum: what an addition has lost is subtracted from the next square, unless
// all is infinite.
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
    float lost = 0.0f;
    for (int column = 0; column < N; ++column) {
        const float s = __bfloat162float(x[start + column]) + __bfloat162float(residual[start + column]);
        const __nv_bfloat16 stored = __float2bfloat16(s);
        sum[start + column] = stored;
        const float next = __bfloat162float(stored) * __bfloat162float(stored) - lost;
        const float larger = squares + next;
        lost = isinf(larger) ? 0.0f : (larger - squares) - next;
        squares = larger;
    }
    const float scale = rsqrtf(squares / N + eps);

    for (int column = 0; column < N; ++column) {
        const float normal = __bfloat162float(sum[start + column]) * scale;
        y[start + column] = __float2bfloat16(normal * __bfloat162float(gamma[column]));
    }
}
