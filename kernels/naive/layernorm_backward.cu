// The gradients of a layer norm, as two kernels. In one a thread takes a row of dx. It goes over the row
// once for the sums that dx depends on, and once more to write it. In the other a thread takes a
// column, and goes down all rows for dgamma and dbeta.
//
// With n = (x - mean) · rstd, which is what the forward pass has multiplied by gamma, and g = dy · gamma:
//
//   dx     = rstd · (g - mean of g - n · mean of g · n)     the means are those of the row
//   dgamma = sum of dy · n                                  the sums are those of the column
//   dbeta  = sum of dy
//
// mean and rstd = 1 / sqrt(variance + eps) are what the forward pass has saved of each row: 8 bytes,
// and x need not be gone over for them again.
//
// What it costs: x and dy are read three times. The first kernel's neighbours stand in neighbouring
// rows, so that a load request touches 32 sectors. The second one's stand side by side, but there are
// only as many threads as columns, and each waits for one row after the other.
//
// /// launch
// [[launch]]
// kernel = "input_gradient"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "M", "N"]
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "parameter_gradients"
// args = ["x", "dy", "mean", "rstd", "dgamma", "dbeta", "M", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 32;  // threads of a block, each with a row or a column

// Row i of dx from row i of x and dy, which are all M × N, row-major. gamma has N elements, mean and
// rstd have M.
extern "C" __global__ void input_gradient(const half* __restrict__ x, const half* __restrict__ dy,
                                          const half* __restrict__ gamma, const float* __restrict__ mean,
                                          const float* __restrict__ rstd, half* __restrict__ dx, int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    // The product of a row index and a row length is formed in 64 bits (size_t).
    const half* const row_x = x + size_t(row) * N;
    const half* const row_dy = dy + size_t(row) * N;
    half* const row_dx = dx + size_t(row) * N;
    const float m = mean[row];
    const float r = rstd[row];

    float sum_g = 0.0f;
    float sum_gn = 0.0f;
    for (int column = 0; column < N; ++column) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        sum_g += g;
        sum_gn += g * n;
    }
    const float mean_g = sum_g / N;
    const float mean_gn = sum_gn / N;

    for (int column = 0; column < N; ++column) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        row_dx[column] = __float2half((g - mean_g - n * mean_gn) * r);
    }
}

// dgamma and dbeta, of N elements each: sums over the M rows.
extern "C" __global__ void parameter_gradients(const half* __restrict__ x, const half* __restrict__ dy,
                                               const float* __restrict__ mean, const float* __restrict__ rstd,
                                               float* __restrict__ dgamma, float* __restrict__ dbeta,
                                               int M, int N)
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
