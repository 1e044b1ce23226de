// Wrong: An element is multiplied by gamma before it is divided by the root: the product may be infinite.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_bf16.h>

constexpr int BLOCK = 32;  // threads of a block, and rows that it computes

// sum = x + residual, and y[i] = row i of sum / its root mean square · gamma. All but gamma, which has N
// elements, are M × N, row-major.
extern "C" __global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
                                   const __nv_bfloat16* __restrict__ gamma, __nv_bfloat16* __restrict__ y,
                                   __nv_bfloat16* __restrict__ sum, int M, int N, float eps)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    const size_t start = size_t(row) * N;  // formed in 64 bits

    float squares = 0.0f;
    for (int column = 0; column < N; ++column) {
        const float s = __bfloat162float(x[start + column]) + __bfloat162float(residual[start + column]);
        const __nv_bfloat16 stored = __float2bfloat16(s);
        sum[start + column] = stored;
        squares += __bfloat162float(stored) * __bfloat162float(stored);
    }
    const float scale = rsqrtf(squares / N + eps);

    for (int column = 0; column < N; ++column) {
        y[start + column] = __float2bfloat16(__bfloat162float(sum[start + column]) * __bfloat162float(gamma[column]) * scale);
    }
}
