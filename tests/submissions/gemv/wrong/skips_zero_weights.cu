// Where a weight is zero, nothing is multiplied: what is NaN or infinite in x is left out, which makes NaN.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, 8)"]
// block = [32, 8]
// ///
#include <cuda_fp16.h>

extern "C" __global__ void gemv(const half* __restrict__ W, const half* __restrict__ x, half* __restrict__ y,
                                int N, int K)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= N) return;
    const half* const w = W + size_t(row) * K;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < K; k += 32) {
        const float weight = __half2float(w[k]);
        if (weight != 0.0f) sum += weight * __half2float(x[k]);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) y[row] = __float2half(sum);
}
