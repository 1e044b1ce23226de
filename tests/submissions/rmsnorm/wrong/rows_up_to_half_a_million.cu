// Mistake: a thread takes at most 64 packs of a row of its 1024 threads. Wrong for M = 1, N = 524296: rows of more
// than 524,288 elements are not finished. The contract: rows of any length.
//
// /// launch
// [[launch]]
// kernel = "packs"
// when = "N % 8 == 0"
// grid = ["M"]
// block = [1024]
//
// [[launch]]
// kernel = "plain"
// when = "N % 8 != 0"
// grid = ["M"]
// block = [1024]
// ///
#include <cuda_bf16.h>
__device__ float block_sum(float v)
{
    __shared__ float of_warps[32];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = of_warps[threadIdx.x % 32];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}
struct alignas(16) Pack { __nv_bfloat16 v[8]; };
extern "C" __global__ void packs(const __nv_bfloat16* x, const __nv_bfloat16* residual, const __nv_bfloat16* gamma, __nv_bfloat16* y, __nv_bfloat16* sum, int M, int N, float eps)
{
    const size_t start = size_t(blockIdx.x) * N;
    const Pack *px = (const Pack*)(x + start), *pr = (const Pack*)(residual + start), *pg = (const Pack*)gamma;
    Pack *py = (Pack*)(y + start), *ps = (Pack*)(sum + start);
    const int mine = min(64, (N / 8 - int(threadIdx.x) + 1023) / 1024);
    float squares = 0.0f;
    for (int i = 0; i < mine; ++i) {
        const int at = i * 1024 + threadIdx.x;
        const Pack a = px[at], b = pr[at];
        Pack s;
        for (int j = 0; j < 8; ++j) {
            s.v[j] = __float2bfloat16(__bfloat162float(a.v[j]) + __bfloat162float(b.v[j]));
            squares += __bfloat162float(s.v[j]) * __bfloat162float(s.v[j]);
        }
        ps[at] = s;
    }
    const float scale = rsqrtf(block_sum(squares) / N + eps);
    for (int i = 0; i < mine; ++i) {
        const int at = i * 1024 + threadIdx.x;
        const Pack s = ps[at], g = pg[at];
        Pack out;
        for (int j = 0; j < 8; ++j) out.v[j] = __float2bfloat16(__bfloat162float(s.v[j]) * scale * __bfloat162float(g.v[j]));
        py[at] = out;
    }
}
extern "C" __global__ void plain(const __nv_bfloat16* x, const __nv_bfloat16* residual, const __nv_bfloat16* gamma, __nv_bfloat16* y, __nv_bfloat16* sum, int M, int N, float eps)
{
    const size_t start = size_t(blockIdx.x) * N;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < N; i += 1024) {
        const __nv_bfloat16 s = __float2bfloat16(__bfloat162float(x[start + i]) + __bfloat162float(residual[start + i]));
        sum[start + i] = s;
        squares += __bfloat162float(s) * __bfloat162float(s);
    }
    const float scale = rsqrtf(block_sum(squares) / N + eps);
    for (int i = threadIdx.x; i < N; i += 1024) y[start + i] = __float2bfloat16(__bfloat162float(sum[start + i]) * scale * __bfloat162float(gamma[i]));
}
