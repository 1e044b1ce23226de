// One thread computes one element of y: it goes along its row of W, multiplies each half by that of x, and
// adds the products to a sum in single precision. This is the formula and nothing else.
//
// What it costs: neighbouring threads stand in neighbouring rows, 2·K bytes apart. A load request for W
// touches 32 sectors and uses 2 bytes of each. And there are only as many threads as rows: 16384 rows leave
// most of a large GPU's places for threads empty.
//
// The sum is a float. A half has 11 significant bits: from 2048 on it skips every other integer, and a sum
// of a thousand products that is kept in one is right to two digits. y is rounded once, at the end.
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
    for (int k = 0; k < K; ++k) {
        sum += __half2float(weights[k]) * __half2float(x[k]);
    }
    y[row] = __float2half(sum);
}
