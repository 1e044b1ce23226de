// Warps take a different number of rows: where M % 512 is from 505 to 511, some reach the barrier in the loop and
// others the one behind it.
//
// /// launch
// [[launch]]
// kernel = "input_gradient"
// grid = ["cdiv(M, 4)"]
// block = [32, 4]
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "M", "N"]
//
// [[launch]]
// kernel = "columns"
// grid = ["min(cdiv(N, 32), 65535)"]
// block = [32, 8]
// args = ["x", "dy", "mean", "rstd", "dgamma", "dbeta", "M", "N"]
// ///

#include <cuda_fp16.h>
__device__ float warp_sum(float v)
{
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}
__device__ void row_gradient(const half* x, const half* dy, const half* gamma, float m, float r, half* dx, int N,
                             int lane)
{
    float a = 0, b = 0;
    for (int i = lane; i < N; i += 32) {
        const float n = (__half2float(x[i]) - m) * r, g = __half2float(dy[i]) * __half2float(gamma[i]);
        a += g;
        b += g * n;
    }
    a = warp_sum(a) / N;
    b = warp_sum(b) / N;
    for (int i = lane; i < N; i += 32) {
        const float n = (__half2float(x[i]) - m) * r, g = __half2float(dy[i]) * __half2float(gamma[i]);
        dx[i] = __float2half((g - a - n * b) * r);
    }
}
extern "C" __global__ void input_gradient(const half* __restrict__ x, const half* __restrict__ dy,
                                          const half* __restrict__ gamma, const float* __restrict__ mean,
                                          const float* __restrict__ rstd, half* __restrict__ dx, int M, int N)
{
    const int row = blockIdx.x * 4 + threadIdx.y;
    if (row >= M)
        return;
    const size_t s = size_t(row) * N;
    row_gradient(x + s, dy + s, gamma, mean[row], rstd[row], dx + s, N, threadIdx.x);
}

// Eight warps take every eighth row of 32 columns, and every 64 rows bring their sums together.
extern "C" __global__ void columns(const half* __restrict__ x, const half* __restrict__ dy,
                                   const float* __restrict__ mean, const float* __restrict__ rstd, float* dgamma,
                                   float* dbeta, int M, int N)
{
    __shared__ float sa[8][32], sb[8][32];
    for (int first = blockIdx.x * 32; first < N; first += gridDim.x * 32) {
        const int c = first + threadIdx.x;
        float a = 0, b = 0, ta = 0, tb = 0;
        int taken = 0;
        for (int row = threadIdx.y; row < M; row += 8) {
            if (c < N) {
                const size_t at = size_t(row) * N + c;
                const float d = __half2float(dy[at]);
                a += d * (__half2float(x[at]) - mean[row]) * rstd[row];
                b += d;
            }
            if (++taken % 64 == 0) {
                sa[threadIdx.y][threadIdx.x] = a;
                sb[threadIdx.y][threadIdx.x] = b;
                a = b = 0;
                __syncthreads();
                if (threadIdx.y == 0)
                    for (int w = 0; w < 8; ++w) {
                        ta += sa[w][threadIdx.x];
                        tb += sb[w][threadIdx.x];
                    }
                __syncthreads();
            }
        }
        sa[threadIdx.y][threadIdx.x] = a;
        sb[threadIdx.y][threadIdx.x] = b;
        __syncthreads();
        if (threadIdx.y == 0 && c < N) {
            for (int w = 0; w < 8; ++w) {
                ta += sa[w][threadIdx.x];
                tb += sb[w][threadIdx.x];
            }
            dgamma[c] = ta;
            dbeta[c] = tb;
        }
        __syncthreads();
    }
}
