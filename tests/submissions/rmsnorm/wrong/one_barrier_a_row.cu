// A fast warp puts its part of the next row where a slow one still reads this row's: a barrier is missing at the
// end of each turn, and shows where a block has a second row.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["min(M, SMS * 2)"]
// block = [128]
// ///

#include <cuda_bf16.h>
extern "C" __global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
                                   const __nv_bfloat16* __restrict__ gamma, __nv_bfloat16* __restrict__ y,
                                   __nv_bfloat16* __restrict__ sum, int M, int N, float eps)
{
    __shared__ float part[4];
    for (int row = blockIdx.x; row < M; row += gridDim.x) {
        const size_t start = size_t(row) * N;
        float q = 0;
        for (int i = threadIdx.x; i < N; i += 128) {
            const __nv_bfloat16 s =
                __float2bfloat16(__bfloat162float(x[start + i]) + __bfloat162float(residual[start + i]));
            sum[start + i] = s;
            q += __bfloat162float(s) * __bfloat162float(s);
        }
        for (int d = 16; d; d /= 2)
            q += __shfl_xor_sync(0xffffffff, q, d);
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32] = q;
        __syncthreads();
        const float r = rsqrtf((part[0] + part[1] + part[2] + part[3]) / N + eps);
        for (int i = threadIdx.x; i < N; i += 128)
            y[start + i] = __float2bfloat16(__bfloat162float(sum[start + i]) * r * __bfloat162float(gamma[i]));
    }
}
