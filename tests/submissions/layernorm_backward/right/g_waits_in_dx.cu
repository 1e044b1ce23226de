// g is stored in dx, as a half, until the means are known.
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

extern "C" __global__ void input_gradient(const half* x, const half* dy, const half* gamma, const float* mean,
                                          const float* rstd, half* dx, int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
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
        row_dx[column] = __float2half(g);
        sum_g += g;
        sum_gn += g * n;
    }
    const float mean_g = sum_g / N;
    const float mean_gn = sum_gn / N;

    for (int column = 0; column < N; ++column) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dx[column]);
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
