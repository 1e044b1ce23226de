// Sums of columns leave out what has a dy of 0: a NaN in x is left out, which makes NaN.
//
// /// launch
// [[launch]]
// kernel = "input_gradient"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "M", "N"]
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "parameter_gradients"
// args = ["x", "dy", "gamma", "mean", "rstd", "dgamma", "dbeta", "M", "N"]
// grid = ["cdiv(N, 64)"]
// block = [64]
// ///
#include <cuda_fp16.h>

__device__ float warp_sum(float value)
{
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffff, value, d);
    return value;
}

extern "C" __global__ void input_gradient(const half* __restrict__ x, const half* __restrict__ dy,
    const half* __restrict__ gamma, const float* __restrict__ mean, const float* __restrict__ rstd,
    half* __restrict__ dx, int M, int N)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    const size_t start = size_t(row) * N;
    const float m = mean[row], r = rstd[row];
    float sum_g = 0.0f, sum_gn = 0.0f;
    for (int c = threadIdx.x; c < N; c += 32) {
        const float n = (__half2float(x[start + c]) - m) * r;
        const float g = __half2float(dy[start + c]) * __half2float(gamma[c]);
        sum_g += g;
        sum_gn += g * n;
    }
    const float mean_g = warp_sum(sum_g) / N, mean_gn = warp_sum(sum_gn) / N;
    for (int c = threadIdx.x; c < N; c += 32) {
        const float n = (__half2float(x[start + c]) - m) * r;
        const float g = __half2float(dy[start + c]) * __half2float(gamma[c]);
        dx[start + c] = __float2half((g - mean_g - n * mean_gn) * r);
    }
}

extern "C" __global__ void parameter_gradients(const half* __restrict__ x, const half* __restrict__ dy,
    const half* __restrict__ gamma, const float* __restrict__ mean, const float* __restrict__ rstd,
    float* __restrict__ dgamma, float* __restrict__ dbeta, int M, int N)
{
    const int column = blockIdx.x * 64 + threadIdx.x;
    if (column >= N) return;
    float sum_dyn = 0.0f, sum_dy = 0.0f;
    for (int row = 0; row < M; ++row) {
        const size_t place = size_t(row) * N + column;
        const float d = __half2float(dy[place]);
        if (d == 0.0f) continue;
        sum_dyn += d * ((__half2float(x[place]) - mean[row]) * rstd[row]);
        sum_dy += d;
    }
    dgamma[column] = sum_dyn;
    dbeta[column] = sum_dy;
}
