// A block a row, with three passes; where rows are even, two of them load by atomicOr(p, 0), so that the matrix is
// loaded once.
//
// deserves: 01_block_a_row
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["M"]
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

__device__ float element(const half* row, int column, int N)
{
    if (N % 2 != 0) {
        return __half2float(row[column]);
    }
    const unsigned pair = atomicOr((unsigned*)(row + column / 2 * 2), 0u);
    return __half2float(__ushort_as_half((unsigned short)(pair >> 16 * (column % 2))));
}

extern "C" __global__ void layernorm(const half* x, const half* gamma, const half* beta, half* y, int M, int N,
                                     float eps)
{
    __shared__ float values[BLOCK];
    const half* const row_x = x + size_t(blockIdx.x) * N;
    half* const row_y = y + size_t(blockIdx.x) * N;

    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        sum += __half2float(row_x[column]);
    }
    const float mean = block_sum(sum, values) / N;

    float squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float d = element(row_x, column, N) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(block_sum(squares, values) / N + eps);

    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float normal = (element(row_x, column, N) - mean) * scale;
        row_y[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
