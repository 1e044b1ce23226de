// Mistake: the last step is three operations in half precision. n is rounded, n · gamma, and y: three times.
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 32;

extern "C" __global__ void layernorm(const half* x, const half* gamma, const half* beta, half* y, int M, int N,
                                     float eps)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    const half* const row_x = x + size_t(row) * N;
    half* const row_y = y + size_t(row) * N;

    float sum = 0.0f;
    for (int column = 0; column < N; ++column) {
        sum += __half2float(row_x[column]);
    }
    const float mean = sum / N;

    float squares = 0.0f;
    for (int column = 0; column < N; ++column) {
        const float d = __half2float(row_x[column]) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(squares / N + eps);

    for (int column = 0; column < N; ++column) {
        const float normal = (__half2float(row_x[column]) - mean) * scale;
        row_y[column] = __hadd(__hmul(__float2half(normal), gamma[column]), beta[column]);
    }
}
