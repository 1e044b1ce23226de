// Weights that are 0 (a nibble of 8) are skipped: a NaN in x is left out, which makes NaN.
//
// /// launch
// [[launch]]
// kernel = "gemv_int4"
// grid = ["cdiv(N, 8)"]
// block = [32, 8]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void gemv_int4(const unsigned* __restrict__ W, const half* __restrict__ scales,
                                     const half* __restrict__ x, half* __restrict__ y, int N, int K)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= N) return;
    const unsigned* const words = W + size_t(row) * (K / 8);
    const half* const of_groups = scales + size_t(row) * (K / 128);
    float sum = 0.0f;
    for (int word = threadIdx.x; word < K / 8; word += 32) {
        const unsigned bits = words[word];
        float part = 0.0f;
        for (int i = 0; i < 8; ++i) {
            const int weight = int(bits >> 4 * i & 15) - 8;
            if (weight) part += float(weight) * __half2float(x[8 * word + i]);
        }
        sum += __half2float(of_groups[word / 16]) * part;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) y[row] = __float2half(sum);
}
