// Mistake: dbeta and dgamma are Kahan's compensated sums: behind an infinity in dy the compensation is inf - inf, so
// that dbeta is NaN and not infinite. Wrong for a dy with an infinity (an overflowed loss scale). Contract: any halves;
// a plain sum gives inf.
//
// /// launch
// [[launch]]
// kernel = "input_gradient"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "M", "N"]
// grid = ["M"]
// block = [32]
//
// [[launch]]
// kernel = "parameter_gradients"
// args = ["x", "dy", "mean", "rstd", "dgamma", "dbeta", "M", "N"]
// grid = ["cdiv(N, 128)"]
// block = [128]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void input_gradient(const half* x, const half* dy, const half* gamma, const float* mean, const float* rstd, half* dx, int M, int N)
{
    const size_t row = blockIdx.x, first = row * N;
    float a = 0.0f, b = 0.0f;
    for (int c = threadIdx.x; c < N; c += 32) {
        const float n = (__half2float(x[first + c]) - mean[row]) * rstd[row], g = __half2float(dy[first + c]) * __half2float(gamma[c]);
        a += g; b += g * n;
    }
    for (int step = 16; step > 0; step /= 2) { a += __shfl_xor_sync(~0u, a, step); b += __shfl_xor_sync(~0u, b, step); }
    for (int c = threadIdx.x; c < N; c += 32) {
        const float n = (__half2float(x[first + c]) - mean[row]) * rstd[row], g = __half2float(dy[first + c]) * __half2float(gamma[c]);
        dx[first + c] = __float2half((g - a / N - n * (b / N)) * rstd[row]);
    }
}
extern "C" __global__ void parameter_gradients(const half* x, const half* dy, const float* mean, const float* rstd, float* dgamma, float* dbeta, int M, int N)
{
    const int c = blockIdx.x * 128 + threadIdx.x;
    if (c >= N) return;
    float s = 0.0f, t = 0.0f, es = 0.0f, et = 0.0f;
    for (int row = 0; row < M; ++row) {
        const size_t i = size_t(row) * N + c;
        const float d = __half2float(dy[i]), n = (__half2float(x[i]) - mean[row]) * rstd[row];
        const float u = d * n - es, v = d - et, s2 = s + u, t2 = t + v;
        es = (s2 - s) - u; et = (t2 - t) - v; s = s2; t = t2;
    }
    dgamma[c] = s; dbeta[c] = t;
}
