// A block takes a row. Its threads stand side by side and walk along the row together. Their sums, and
// later their sums of squares, go through a tree in shared memory.
//
// What it should buy: neighbouring threads read and write neighbours, two sectors a request where there
// were 32. And there are 256 threads a row, enough to fill the GPU. The row is still read three times,
// but rows are short enough that the second and third time they come from the L2 cache. gamma and beta
// are read anew for each row, and come from there as well.
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["M"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 256;  // threads of a block: a power of two

// Every thread of the block gets the sum of all `value`s. `values` has room for BLOCK floats.
__device__ float block_sum(float value, float* values)
{
    values[threadIdx.x] = value;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();  // the sums of the step before are there
        if (threadIdx.x < distance) {
            values[threadIdx.x] += values[threadIdx.x + distance];
        }
    }
    __syncthreads();  // the last one is
    const float sum = values[0];
    __syncthreads();  // and all have read it: the array may be used again
    return sum;
}

// y[i] = the layer norm of row i of x; both are M × N, row-major. gamma and beta have N elements.
extern "C" __global__ void __launch_bounds__(BLOCK)
layernorm(const half* __restrict__ x, const half* __restrict__ gamma, const half* __restrict__ beta,
          half* __restrict__ y, int M, int N, float eps)
{
    __shared__ float values[BLOCK];
    const half* const row_x = x + size_t(blockIdx.x) * N;
    half* const row_y = y + size_t(blockIdx.x) * N;

    float sum = 0.0f;  // of this thread's elements
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        sum += __half2float(row_x[column]);
    }
    const float mean = block_sum(sum, values) / N;

    float squares = 0.0f;  // of the differences from the mean
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
