// The sum is read again from memory for y, as in rung 01; gamma, which each lane reads at places of its own, lies
// in constant memory, where 512 bytes of a warp count as one sector. So the sectors of the second reading are
// saved elsewhere.
//
// deserves: 01_block_a_row
//
// /// launch
// [[launch]]
// kernel = "rmsnorm<true>"
// when = "N % 8 == 0 and N <= 32768"
// constant = { kept = "gamma" }
// grid = ["M"]
// block = [256]
//
// [[launch]]
// kernel = "rmsnorm<false>"
// when = "N % 8 == 0 and N > 32768"
// grid = ["M"]
// block = [256]
//
// [[launch]]
// kernel = "plain"
// when = "N % 8 != 0"
// grid = ["M"]
// block = [256]
// ///
#include <cuda_bf16.h>
__constant__ uint4 kept[4096];
struct alignas(16) Pack { __nv_bfloat16 v[8]; };
__device__ float block_sum(float v)
{
    __shared__ float of_warps[8];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = of_warps[threadIdx.x % 8];
    for (int d = 4; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}
template <bool KEPT>
__global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual, const __nv_bfloat16* gamma, __nv_bfloat16* y, __nv_bfloat16* sum, int M, int N, float eps)
{
    const size_t start = size_t(blockIdx.x) * N;
    const Pack *px = (const Pack*)(x + start), *pr = (const Pack*)(residual + start);
    Pack *py = (Pack*)(y + start), *ps = (Pack*)(sum + start);
    float squares = 0.0f;
    for (int at = threadIdx.x; at < N / 8; at += 256) {
        const Pack a = px[at], b = pr[at];
        Pack s;
        for (int j = 0; j < 8; ++j) {
            s.v[j] = __float2bfloat16(__bfloat162float(a.v[j]) + __bfloat162float(b.v[j]));
            squares += __bfloat162float(s.v[j]) * __bfloat162float(s.v[j]);
        }
        ps[at] = s;
    }
    const float scale = rsqrtf(block_sum(squares) / N + eps);
    for (int at = threadIdx.x; at < N / 8; at += 256) {
        const Pack s = ps[at];
        Pack g;
        const uint4 of_gamma = KEPT ? kept[at] : ((const uint4*)gamma)[at];
        memcpy(&g, &of_gamma, 16);
        Pack out;
        for (int j = 0; j < 8; ++j) out.v[j] = __float2bfloat16(__bfloat162float(s.v[j]) * scale * __bfloat162float(g.v[j]));
        py[at] = out;
    }
}
extern "C" __global__ void plain(const __nv_bfloat16* x, const __nv_bfloat16* residual, const __nv_bfloat16* gamma, __nv_bfloat16* y, __nv_bfloat16* sum, int M, int N, float eps)
{
    const size_t start = size_t(blockIdx.x) * N;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < N; i += 256) {
        const __nv_bfloat16 s = __float2bfloat16(__bfloat162float(x[start + i]) + __bfloat162float(residual[start + i]));
        sum[start + i] = s;
        squares += __bfloat162float(s) * __bfloat162float(s);
    }
    const float scale = rsqrtf(block_sum(squares) / N + eps);
    for (int i = threadIdx.x; i < N; i += 256) y[start + i] = __float2bfloat16(__bfloat162float(sum[start + i]) * scale * __bfloat162float(gamma[i]));
}
