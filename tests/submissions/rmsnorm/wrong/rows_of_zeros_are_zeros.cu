// A row of zeros is stored as zeros without gamma: 0 times what is NaN or infinite in gamma is NaN.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
// ///
#include <cuda_bf16.h>

__device__ float warp_sum(float value)
{
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffff, value, d);
    return value;
}

extern "C" __global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
                                   const __nv_bfloat16* __restrict__ gamma, __nv_bfloat16* __restrict__ y,
                                   __nv_bfloat16* __restrict__ sum, int M, int N, float eps)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    const size_t start = size_t(row) * N;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < N; c += 32) {
        const __nv_bfloat16 s = __float2bfloat16(__bfloat162float(x[start + c]) + __bfloat162float(residual[start + c]));
        sum[start + c] = s;
        squares += __bfloat162float(s) * __bfloat162float(s);
    }
    squares = warp_sum(squares);

    if (squares == 0.0f) {
        for (int c = threadIdx.x; c < N; c += 32) y[start + c] = __float2bfloat16(0.0f);
        return;
    }
    const float scale = rsqrtf(squares / N + eps);
    for (int c = threadIdx.x; c < N; c += 32)
        y[start + c] = __float2bfloat16(__bfloat162float(sum[start + c]) * scale * __bfloat162float(gamma[c]));
}
