// /// launch
// [[launch]]
// kernel = "input_gradient"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "M", "N"]
// grid = ["cdiv(M, 64)"]
// block = [64]
//
// [[launch]]
// kernel = "parameter_gradients"
// args = ["x", "dy", "mean", "rstd", "dgamma", "dbeta", "M", "N"]
// grid = ["cdiv(M, BAND)", "cdiv(N, 64)"]
// block = [64]
// zero = ["dgamma", "dbeta"]
// ///
#include <cuda_fp16.h>

constexpr int BAND = 64;  // rows of a block, which has as many threads

extern "C" __global__ void input_gradient(const half* x, const half* dy, const half* gamma, const float* mean,
                                          const float* rstd, half* dx, int M, int N)
{
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= M) {
        return;
    }
    const size_t start = size_t(row) * N;
    const auto n = [&](int column) { return (__half2float(x[start + column]) - mean[row]) * rstd[row]; };
    const auto g = [&](int column) { return __half2float(dy[start + column]) * __half2float(gamma[column]); };
    float2 sums = {0.0f, 0.0f};
    for (int column = 0; column < N; ++column) {
        sums.x += g(column);
        sums.y += g(column) * n(column);
    }
    for (int column = 0; column < N; ++column) {
        dx[start + column] = __float2half((g(column) - sums.x / N - n(column) * (sums.y / N)) * rstd[row]);
    }
}

extern "C" __global__ void parameter_gradients(const half* x, const half* dy, const float* mean,
                                               const float* rstd, float* dgamma, float* dbeta, int M, int N)
{
    __shared__ float2 saved[BAND];  // mean and rstd of the band's rows
    const int column = blockIdx.y * 64 + threadIdx.x;
    const int first = blockIdx.x * BAND;
    if (first + threadIdx.x < M) {
        saved[threadIdx.x] = {mean[threadIdx.x], rstd[threadIdx.x]};  //!
    }
    __syncthreads();
    float2 sums = {0.0f, 0.0f};
    for (int i = 0; column < N && i < min(BAND, M - first); ++i) {
        const size_t place = size_t(first + i) * N + column;
        const float d = __half2float(dy[place]);
        sums.x += d * (__half2float(x[place]) - saved[i].x) * saved[i].y;
        sums.y += d;
    }
    if (column < N) {
        atomicAdd(&dgamma[column], sums.x);
        atomicAdd(&dbeta[column], sums.y);
    }
}
