// Mistake: each lane keeps the sum of its elements as a half, and the warp adds floats.
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

    half sum = __float2half(0.0f);
    for (int column = threadIdx.x; column < N; column += WARP) {
        sum = __hadd(sum, row_x[column]);
    }
    const float mean = warp_sum(__half2float(sum)) / N;

    float squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += WARP) {
        const float d = __half2float(row_x[column]) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(warp_sum(squares) / N + eps);

    for (int column = threadIdx.x; column < N; column += WARP) {
        const float normal = (__half2float(row_x[column]) - mean) * scale;
        row_y[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
