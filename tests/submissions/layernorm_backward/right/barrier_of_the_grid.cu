// One cooperative launch: a block takes a row after the other and adds its columns to its own part in memory;
// behind the barrier of the grid, parts are added up.
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["min(SMS, cdiv(M, 8))", 2, "N"]
//
// [[launch]]
// kernel = "gradients"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "parts", "dgamma", "dbeta", "M", "N"]
// grid = ["min(SMS, cdiv(M, 8))"]
// block = ["BLOCK"]
// cooperative = true
// ///

#include <cooperative_groups.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

constexpr int BLOCK = 256;

__device__ float block_sum(float value, float* values)
{
    values[threadIdx.x] = value;
    __syncthreads();
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) {
            values[threadIdx.x] += values[threadIdx.x + distance];
        }
        __syncthreads();
    }
    const float sum = values[0];
    __syncthreads();
    return sum;
}

extern "C" __global__ void gradients(const half* x, const half* dy, const half* gamma, const float* mean,
                                     const float* rstd, half* dx, float* parts, float* dgamma, float* dbeta,
                                     int M, int N)
{
    __shared__ float values[BLOCK];
    float* const of_gamma = parts + size_t(blockIdx.x) * 2 * N;
    float* const of_beta = of_gamma + N;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        of_gamma[column] = 0.0f;
        of_beta[column] = 0.0f;
    }
    for (int row = blockIdx.x; row < M; row += gridDim.x) {
        const half* const row_x = x + size_t(row) * N;
        const half* const row_dy = dy + size_t(row) * N;
        float sum_g = 0.0f;
        float sum_gn = 0.0f;
        for (int column = threadIdx.x; column < N; column += BLOCK) {
            const float n = (__half2float(row_x[column]) - mean[row]) * rstd[row];
            const float d = __half2float(row_dy[column]);
            const float g = d * __half2float(gamma[column]);
            sum_g += g;
            sum_gn += g * n;
            of_gamma[column] += d * n;
            of_beta[column] += d;
        }
        const float mean_g = block_sum(sum_g, values) / N;
        const float mean_gn = block_sum(sum_gn, values) / N;
        for (int column = threadIdx.x; column < N; column += BLOCK) {
            const float n = (__half2float(row_x[column]) - mean[row]) * rstd[row];
            const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
            dx[size_t(row) * N + column] = __float2half((g - mean_g - n * mean_gn) * rstd[row]);
        }
    }
    cg::this_grid().sync();
    for (int column = blockIdx.x * BLOCK + threadIdx.x; column < N; column += gridDim.x * BLOCK) {
        float sum_dyn = 0.0f;
        float sum_dy = 0.0f;
        for (int block = 0; block < gridDim.x; ++block) {
            sum_dyn += parts[size_t(block) * 2 * N + column];
            sum_dy += parts[size_t(block) * 2 * N + N + column];
        }
        dgamma[column] = sum_dyn;
        dbeta[column] = sum_dy;
    }
}
