// A block takes a row of dx. Its threads walk along the row side by side, and their two sums go through
// a tree in shared memory together. dgamma and dbeta are added up as before, a thread a column.
//
// What it should buy: neighbours read neighbours in both kernels now, two sectors a request of halves.
// And there are 256 threads a row. When a row is read for the second time it comes from the caches.
// What is left of the time is the second kernel's, which has too few threads.
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
// grid = ["cdiv(N, COLUMNS)"]
// block = ["COLUMNS"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 256;   // threads that take a row: a power of two
constexpr int COLUMNS = 32;  // of a block, a thread each: few, so that as many multiprocessors as can be have one

// Every thread of the block gets the sums of all `value`s, x by x and y by y. `values` has room for
// BLOCK of them, and is used once.
__device__ float2 block_sum(float2 value, float2* values)
{
    values[threadIdx.x] = value;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();  // the sums of the step before are there
        if (threadIdx.x < distance) {
            values[threadIdx.x].x += values[threadIdx.x + distance].x;
            values[threadIdx.x].y += values[threadIdx.x + distance].y;
        }
    }
    __syncthreads();  // the last ones are
    return values[0];
}

// Row i of dx from row i of x and dy, which are all M × N, row-major. gamma has N elements, mean and
// rstd have M.
extern "C" __global__ void __launch_bounds__(BLOCK)
input_gradient(const half* __restrict__ x, const half* __restrict__ dy, const half* __restrict__ gamma,
               const float* __restrict__ mean, const float* __restrict__ rstd, half* __restrict__ dx,
               int M, int N)
{
    __shared__ float2 values[BLOCK];
    const half* const row_x = x + size_t(blockIdx.x) * N;
    const half* const row_dy = dy + size_t(blockIdx.x) * N;
    half* const row_dx = dx + size_t(blockIdx.x) * N;
    const float m = mean[blockIdx.x];
    const float r = rstd[blockIdx.x];

    float2 sums = {0.0f, 0.0f};  // of g and g · n, of this thread's elements
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        sums.x += g;
        sums.y += g * n;
    }
    const float2 of_row = block_sum(sums, values);
    const float mean_g = of_row.x / N;
    const float mean_gn = of_row.y / N;

    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        row_dx[column] = __float2half((g - mean_g - n * mean_gn) * r);
    }
}

// dgamma and dbeta, of N elements each: sums over the M rows.
extern "C" __global__ void __launch_bounds__(COLUMNS)
parameter_gradients(const half* __restrict__ x, const half* __restrict__ dy, const float* __restrict__ mean,
                    const float* __restrict__ rstd, float* __restrict__ dgamma, float* __restrict__ dbeta,
                    int M, int N)
{
    const int column = blockIdx.x * COLUMNS + threadIdx.x;
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
