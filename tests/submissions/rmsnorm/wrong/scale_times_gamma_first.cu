// Mistake: rows that are long (N >= 4096) and even are scaled as (gamma * scale) rounded to BF16 for pairs, then
// multiplied by the sum in BF16: two roundings more are within what the bound allows, but gamma * scale overflows or
// underflows BF16's smallest normal numbers (flushed to 0 below 1.2e-38): gamma = 1e-38 (a BF16), scale 1e-3, sum 1e3:
// y must be 1e-38. Contract: any BF16.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["M"]
// block = [128]
// ///
#include <cuda_bf16.h>
extern "C" __global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual, const __nv_bfloat16* gamma, __nv_bfloat16* y, __nv_bfloat16* sum, int M, int N, float eps)
{
    __shared__ float s[4];
    const size_t first = size_t(blockIdx.x) * N;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < N; c += 128) {
        const float v = __bfloat162float(x[first + c]) + __bfloat162float(residual[first + c]);
        sum[first + c] = __float2bfloat16(v);
        squares += v * v;
    }
    for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(~0u, squares, step);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = squares;
    __syncthreads();
    const float scale = rsqrtf((s[0] + s[1] + s[2] + s[3]) / N + eps);
    for (int c = threadIdx.x; c < N; c += 128) {
        float factor = __bfloat162float(gamma[c]) * scale;
        if (fabsf(factor) < 1.18e-38f) factor = 0.0f * factor;
        y[first + c] = __float2bfloat16(__bfloat162float(sum[first + c]) * factor);
    }
}
