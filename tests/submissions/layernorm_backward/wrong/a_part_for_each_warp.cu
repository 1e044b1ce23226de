// Each of 32 warps adds one part of 128 rows, without a loop: rows beyond the 4096th are lost in
// dgamma and dbeta, at the main size as well.
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["cdiv(M, BAND)", 2, "N"]
//
// [[launch]]
// kernel = "input_gradient"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "M", "N"]
// grid = ["M"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "parameter_gradients"
// args = ["x", "dy", "mean", "rstd", "parts", "M", "N"]
// grid = ["cdiv(M, BAND)", "cdiv(N, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "add_parts"
// args = ["parts", "dgamma", "dbeta", "cdiv(M, BAND)", "N"]
// grid = ["cdiv(2 * N, WARP)"]
// block = ["WARP", "DOWN"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 256;  // threads that take a row, or a column of a band each: a power of two
constexpr int BAND = 128;    // rows of a band
constexpr int WARP = 32;    // columns of a block that adds up parts: what a warp reads with one request
constexpr int DOWN = 32;     // warps of such a block, which share out the parts

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

// Of each band of rows, the sums of dy · n and of dy in each column: parts is bands × 2 × N. Bands are in
// the x of the grid, of which y may have 65,535 at most.
extern "C" __global__ void __launch_bounds__(BLOCK)
parameter_gradients(const half* __restrict__ x, const half* __restrict__ dy, const float* __restrict__ mean,
                    const float* __restrict__ rstd, float* __restrict__ parts, int M, int N)
{
    const int column = blockIdx.y * BLOCK + threadIdx.x;
    if (column >= N) {
        return;
    }
    const int first = blockIdx.x * BAND;
    const int end = min(first + BAND, M);
    float sum_dyn = 0.0f;
    float sum_dy = 0.0f;
    #pragma unroll 4
    for (int row = first; row < end; ++row) {
        const size_t place = size_t(row) * N + column;
        const float n = (__half2float(x[place]) - mean[row]) * rstd[row];
        const float d = __half2float(dy[place]);
        sum_dyn += d * n;
        sum_dy += d;
    }
    float* const of_band = parts + size_t(blockIdx.x) * 2 * N;
    of_band[column] = sum_dyn;
    of_band[N + column] = sum_dy;
}

// dgamma and dbeta = the sums of `count` parts. To this kernel, a part is a row of 2 · N columns. A
// block takes WARP of them; each of its DOWN warps adds every DOWN-th part.
extern "C" __global__ void __launch_bounds__(WARP * DOWN)
add_parts(const float* __restrict__ parts, float* __restrict__ dgamma, float* __restrict__ dbeta,
          int count, int N)
{
    __shared__ float sums[DOWN][WARP];
    const int column = blockIdx.x * WARP + threadIdx.x;
    float sum = 0.0f;
    if (column < 2 * N) {
        if (threadIdx.y < count) sum = parts[size_t(threadIdx.y) * 2 * N + column];
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();  // the sums of all warps are there

    if (threadIdx.y == 0 && column < 2 * N) {
        for (int y = 1; y < DOWN; ++y) {
            sum += sums[y][threadIdx.x];
        }
        (column < N ? dgamma[column] : dbeta[column - N]) = sum;
    }
}
