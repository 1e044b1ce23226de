// Statistics in single precision; the last step, n · gamma + beta, is an HFMA2 of two elements where rows are even.
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["cdiv(M, WARPS)"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 4;
constexpr unsigned ALL = 0xffffffff;

__device__ float warp_sum(float value)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL, value, distance);
    }
    return value;
}

extern "C" __global__ void layernorm(const half* x, const half* gamma, const half* beta, half* y, int M, int N,
                                     float eps)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= M) {
        return;
    }
    const half* const row_x = x + size_t(row) * N;
    half* const row_y = y + size_t(row) * N;

    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += WARP) {
        sum += __half2float(row_x[column]);
    }
    const float mean = warp_sum(sum) / N;

    float squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += WARP) {
        const float d = __half2float(row_x[column]) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(warp_sum(squares) / N + eps);

    if (N % 2 == 0) {
        const half2* const pairs = reinterpret_cast<const half2*>(row_x);
        const half2* const pairs_of_gamma = reinterpret_cast<const half2*>(gamma);
        const half2* const pairs_of_beta = reinterpret_cast<const half2*>(beta);
        for (int pair = threadIdx.x; pair < N / 2; pair += WARP) {
            const float2 two = __half22float2(pairs[pair]);
            const half2 normal = __floats2half2_rn((two.x - mean) * scale, (two.y - mean) * scale);
            reinterpret_cast<half2*>(row_y)[pair] = __hfma2(normal, pairs_of_gamma[pair], pairs_of_beta[pair]);
        }
        return;
    }
    for (int column = threadIdx.x; column < N; column += WARP) {
        const float normal = (__half2float(row_x[column]) - mean) * scale;
        row_y[column] = __hfma(__float2half(normal), gamma[column], beta[column]);
    }
}
