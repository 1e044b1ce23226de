// Mistake: rows of 9000 to 32,000 elements are taken as packs of 8, without the rest: the last N % 8 elements are not
// written. Wrong for N = 10,001. Contract: any N.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["M"]
// block = ["THREADS"]
// ///
#include <cuda_bf16.h>
constexpr int THREADS = 256;
extern "C" __global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
                                   const __nv_bfloat16* __restrict__ gamma, __nv_bfloat16* __restrict__ y,
                                   __nv_bfloat16* __restrict__ sum, int M, int N, float eps)
{
    __shared__ float parts[THREADS / 32];
    for (int row = blockIdx.x; row < M; row += gridDim.x) {
        const size_t first = size_t(row) * N;
        float squares = 0.0f;
        const int end = N >= 9000 && N <= 32000 ? N / 8 * 8 : N;
        for (int c = threadIdx.x; c < end; c += THREADS) {
            const __nv_bfloat16 s =
                __float2bfloat16(__bfloat162float(x[first + c]) + __bfloat162float(residual[first + c]));
            sum[first + c] = s;
            squares += __bfloat162float(s) * __bfloat162float(s);
        }
        for (int d = 16; d > 0; d /= 2) squares += __shfl_down_sync(0xffffffffu, squares, d);
        __syncthreads();
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = squares;
        __syncthreads();
        squares = 0.0f;
        for (int w = 0; w < THREADS / 32; ++w) squares += parts[w];
        const float scale = rsqrtf(squares / N + eps);
        for (int c = threadIdx.x; c < end; c += THREADS)
            y[first + c] = __float2bfloat16(__bfloat162float(sum[first + c]) * scale * __bfloat162float(gamma[c]));
    }
}
