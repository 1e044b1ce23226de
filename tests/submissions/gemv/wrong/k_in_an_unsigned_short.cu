// The place in a sum is an unsigned short. It holds numbers up to 65,535: where a sum is longer, it begins again at
// 0, and the loop does not end.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 128;  // threads of a block, and rows that it computes

// y = W · x. W is N × K, row-major, x has K elements, y has N.
extern "C" __global__ void gemv(const half* __restrict__ W, const half* __restrict__ x, half* __restrict__ y,
                                int N, int K)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= N) {
        return;
    }
    const half* const weights = W + size_t(row) * K;  // formed in 64 bits: W may have more than 2^31 elements

    // The product of two halves has 22 significant bits and is exact in a float, which has 24.
    float sum = 0.0f;
    for (unsigned short k = 0; k < K; ++k) {
        sum += __half2float(weights[k]) * __half2float(x[k]);
    }
    y[row] = __float2half(sum);
}
