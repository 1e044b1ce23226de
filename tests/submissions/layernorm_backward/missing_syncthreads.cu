// A block takes a row, and its two sums go through a tree in shared memory.
//
// /// launch
// [[launch]]
// kernel = "input_gradient"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "M", "N"]
// grid = ["M"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "parameter_gradients"
// args = ["x", "dy", "mean", "rstd", "dgamma", "dbeta", "M", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 256;

__device__ float block_sum(float value, float* values)
{
    values[threadIdx.x] = value;
    __syncthreads();
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) {
            values[threadIdx.x] += values[threadIdx.x + distance];
        }
    }
    __syncthreads();
    const float sum = values[0];
    __syncthreads();
    return sum;
}

extern "C" __global__ void input_gradient(const half* x, const half* dy, const half* gamma, const float* mean,
                                          const float* rstd, half* dx, int M, int N)
{
    __shared__ float values[BLOCK];
    const int row = blockIdx.x;
    const half* const row_x = x + size_t(row) * N;
    const half* const row_dy = dy + size_t(row) * N;
    half* const row_dx = dx + size_t(row) * N;
    const float m = mean[row];
    const float r = rstd[row];

    float sum_g = 0.0f;
    float sum_gn = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        sum_g += g;
        sum_gn += g * n;
    }
    const float mean_g = block_sum(sum_g, values) / N;
    const float mean_gn = block_sum(sum_gn, values) / N;

    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        row_dx[column] = __float2half((g - mean_g - n * mean_gn) * r);
    }
}

extern "C" __global__ void parameter_gradients(const half* x, const half* dy, const float* mean,
                                               const float* rstd, float* dgamma, float* dbeta, int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) {
        return;
    }
    float sum_dyn = 0.0f;
    float sum_dy = 0.0f;
    for (int row = 0; row < M; ++row) {
        const size_t place = size_t(row) * N + column;
        const float n = (__half2float(x[place]) - mean[row]) * rstd[row];
        const float d = __half2float(dy[place]);
        sum_dyn += d * n;
        sum_dy += d;
    }
    dgamma[column] = sum_dyn;
    dbeta[column] = sum_dy;
}
