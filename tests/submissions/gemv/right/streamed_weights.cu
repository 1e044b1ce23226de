// Weights are loaded with a hint that they are not needed again, __ldcs, and rows are dealt out to blocks that stay.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["min(cdiv(N, 8), 8 * SMS)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void gemv(const half* W, const half* x, half* y, int N, int K)
{
    for (int row = blockIdx.x * 8 + threadIdx.y; row < N; row += gridDim.x * 8) {
        const half* const weights = W + size_t(row) * K;
        float sum = 0.0f;
        if (K % 8 == 0) {
            for (int pack = threadIdx.x; pack < K / 8; pack += 32) {
                const uint4 w = __ldcs(reinterpret_cast<const uint4*>(weights) + pack);
                const uint4 input = __ldg(reinterpret_cast<const uint4*>(x) + pack);
                const half2* const of_w = reinterpret_cast<const half2*>(&w);
                const half2* const of_x = reinterpret_cast<const half2*>(&input);
                for (int i = 0; i < 4; ++i) {
                    const float2 a = __half22float2(of_w[i]), b = __half22float2(of_x[i]);
                    sum = fmaf(a.x, b.x, fmaf(a.y, b.y, sum));
                }
            }
        } else {
            for (int k = threadIdx.x; k < K; k += 32) {
                sum += __half2float(weights[k]) * __half2float(x[k]);
            }
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        }
        if (threadIdx.x == 0) {
            y[row] = __float2half(sum);
        }
    }
}
