// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["cdiv(M, WARPS)"]
// block = [32, "WARPS"]
// ///
#include <cuda_fp16.h>

constexpr int WARPS = 4;

// Every lane gets the sum of the warp's 32 values.
__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, distance);
    }
    return value;
}

extern "C" __global__ void layernorm(const half* x, const half* gamma, const half* beta, half* y,
                                     int M, int N, float eps)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= M) {
        return;
    }
    const half* const row_x = x + size_t(row) * N;
    half* const row_y = y + size_t(row) * N;

    float sum = 0.0f;
    float squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) {
        const float value = __half2float(row_x[column]);
        sum += value;
        squares += value * value;  //!
    }
    const float mean = warp_sum(sum) / N;
    const float variance = warp_sum(squares) / N - mean * mean;  //!
    const float scale = rsqrtf(variance + eps);

    for (int column = threadIdx.x; column < N; column += 32) {
        const float normal = (__half2float(row_x[column]) - mean) * scale;
        row_y[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
