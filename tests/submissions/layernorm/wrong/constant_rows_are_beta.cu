// Where all elements of a row are its mean, beta is stored without gamma: 0 times a NaN of gamma is NaN.
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
// ///
#include <cuda_fp16.h>

__device__ float warp_sum(float value)
{
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffff, value, d);
    return value;
}

extern "C" __global__ void layernorm(const half* __restrict__ x, const half* __restrict__ gamma,
                                     const half* __restrict__ beta, half* __restrict__ y, int M, int N, float eps)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    const half* const in = x + size_t(row) * N;
    half* const out = y + size_t(row) * N;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < N; c += 32) sum += __half2float(in[c]);
    const float mean = warp_sum(sum) / N;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < N; c += 32) {
        const float d = __half2float(in[c]) - mean;
        squares += d * d;
    }
    squares = warp_sum(squares);
    if (squares == 0.0f) {
        for (int c = threadIdx.x; c < N; c += 32) out[c] = beta[c];
        return;
    }
    const float scale = rsqrtf(squares / N + eps);
    for (int c = threadIdx.x; c < N; c += 32)
        out[c] = __float2half((__half2float(in[c]) - mean) * scale * __half2float(gamma[c]) + __half2float(beta[c]));
}
