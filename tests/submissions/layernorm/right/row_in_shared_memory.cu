// A row of up to 16,384 lies in dynamic shared memory, 32 KiB of it; of longer ones the rest is read three times.
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["M"]
// block = [256]
// shared = 32768
// ///

#include <cuda_fp16.h>

__device__ float all_of(float value, float* values)
{
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
    if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = value;
    __syncthreads();
    value = values[threadIdx.x % 8];
    for (int d = 4; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
    return value;
}

extern "C" __global__ void layernorm(const half* x, const half* gamma, const half* beta, half* y, int M, int N,
                                     float eps)
{
    extern __shared__ half kept[];
    __shared__ float sums[8], squares[8];
    const half* const row = x + size_t(blockIdx.x) * N;
    half* const out = y + size_t(blockIdx.x) * N;
    float own = 0.0f;
    for (int i = threadIdx.x; i < N; i += 256) {
        const half value = row[i];
        if (i < 16384) kept[i] = value;
        own += __half2float(value);
    }
    const float mean = all_of(own, sums) / N;
    own = 0.0f;
    for (int i = threadIdx.x; i < N; i += 256) {
        const float d = __half2float(i < 16384 ? kept[i] : row[i]) - mean;
        own += d * d;
    }
    const float scale = rsqrtf(all_of(own, squares) / N + eps);
    for (int i = threadIdx.x; i < N; i += 256) {
        const float normal = (__half2float(i < 16384 ? kept[i] : row[i]) - mean) * scale;
        out[i] = __float2half(normal * __half2float(gamma[i]) + __half2float(beta[i]));
    }
}
