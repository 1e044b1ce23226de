// Rows are in y of the grid: it ends at 65,535 of them, and is right so far.
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = [1, "M"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 256;

__device__ float block_sum(float value, float* values)
{
    values[threadIdx.x] = value;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) {
            values[threadIdx.x] += values[threadIdx.x + distance];
        }
    }
    __syncthreads();
    const float sum = values[0];
    __syncthreads();
    return sum;
}

extern "C" __global__ void layernorm(const half* x, const half* gamma, const half* beta, half* y, int M, int N,
                                     float eps)
{
    __shared__ float values[BLOCK];
    const half* const row_x = x + size_t(blockIdx.y) * N;
    half* const row_y = y + size_t(blockIdx.y) * N;

    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        sum += __half2float(row_x[column]);
    }
    const float mean = block_sum(sum, values) / N;

    float squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float d = __half2float(row_x[column]) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(block_sum(squares, values) / N + eps);

    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float normal = (__half2float(row_x[column]) - mean) * scale;
        row_y[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
