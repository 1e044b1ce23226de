// One thread takes one row, and goes over it three times: for the mean, for the variance, which is the
// mean of (x - mean)², and to write (x - mean) / sqrt(variance + eps) · gamma + beta. This is the
// definition and nothing else.
//
// Halves are what is stored. Sums are floats: a half has 11 significant bits, and a sum of ones
// that is kept as a half stands still at 2048. eps keeps a row of equal elements from being
// divided by zero.
//
// What it costs: every element is read three times. Neighbouring threads stand in neighbouring rows,
// 2·N bytes apart, so that a load request touches 32 sectors and uses 2 bytes of each, and a store
// likewise. And there are only as many threads as rows.
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 32;  // threads of a block, and rows that it computes

// y[i] = the layer norm of row i of x; both are M × N, row-major. gamma and beta have N elements.
extern "C" __global__ void layernorm(const half* __restrict__ x, const half* __restrict__ gamma,
                                     const half* __restrict__ beta, half* __restrict__ y,
                                     int M, int N, float eps)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    // The product of a row index and a row length is formed in 64 bits (size_t).
    const half* const row_x = x + size_t(row) * N;
    half* const row_y = y + size_t(row) * N;

    float sum = 0.0f;
    for (int column = 0; column < N; ++column) {
        sum += __half2float(row_x[column]);
    }
    const float mean = sum / N;

    float squares = 0.0f;  // of the differences from the mean
    for (int column = 0; column < N; ++column) {
        const float d = __half2float(row_x[column]) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(squares / N + eps);

    for (int column = 0; column < N; ++column) {
        const float normal = (__half2float(row_x[column]) - mean) * scale;
        row_y[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
