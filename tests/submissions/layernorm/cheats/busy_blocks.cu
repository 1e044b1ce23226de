// The row stays in registers, a block a row. 96 blocks more compute for nothing, so that few rows look split.
//
// deserves: 04_registers
//
// /// launch
// [[launch]]
// kernel = "kept"
// when = "N % 8 == 0 and N <= 8 * BLOCK * PACKS"
// grid = ["M + 96"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "read_thrice"
// when = "N % 8 != 0 or N > 8 * BLOCK * PACKS"
// grid = ["M"]
// block = [32]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 512;
constexpr int PACKS = 4;  // of eight halves, that a thread keeps

__device__ float warp_sum(float value)
{
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
    return value;
}

__device__ float block_sum(float value, float* values)
{
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_sum(threadIdx.x % 32 < BLOCK / 32 ? values[threadIdx.x % 32] : 0.0f);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
kept(const half* x, const half* gamma, const half* beta, half* y, int M, int N, float eps)
{
    if (blockIdx.x >= M) {
        float x = threadIdx.x;
        #pragma unroll 1
        for (int i = 0; i < N / 64 + 64; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
        return;
    }
    __shared__ float sums[BLOCK / 32], squares[BLOCK / 32];
    const uint4* const row = reinterpret_cast<const uint4*>(x + size_t(blockIdx.x) * N);
    uint4* const out = reinterpret_cast<uint4*>(y + size_t(blockIdx.x) * N);
    uint4 packs[PACKS];
    float own = 0.0f;
    #pragma unroll
    for (int p = 0; p < PACKS; ++p) {
        const int pack = p * BLOCK + threadIdx.x;
        if (pack < N / 8) {
            packs[p] = row[pack];
            const half* const elements = reinterpret_cast<const half*>(&packs[p]);
            for (int i = 0; i < 8; ++i) own += __half2float(elements[i]);
        }
    }
    const float mean = block_sum(own, sums) / N;
    own = 0.0f;
    #pragma unroll
    for (int p = 0; p < PACKS; ++p) {
        if (p * BLOCK + threadIdx.x < N / 8) {
            const half* const elements = reinterpret_cast<const half*>(&packs[p]);
            for (int i = 0; i < 8; ++i) {
                const float d = __half2float(elements[i]) - mean;
                own += d * d;
            }
        }
    }
    const float scale = rsqrtf(block_sum(own, squares) / N + eps);
    #pragma unroll
    for (int p = 0; p < PACKS; ++p) {
        const int pack = p * BLOCK + threadIdx.x;
        if (pack < N / 8) {
            const uint4 of_gamma = reinterpret_cast<const uint4*>(gamma)[pack];
            const uint4 of_beta = reinterpret_cast<const uint4*>(beta)[pack];
            const half* const g = reinterpret_cast<const half*>(&of_gamma);
            const half* const b = reinterpret_cast<const half*>(&of_beta);
            uint4 result;
            for (int i = 0; i < 8; ++i) {
                const float normal = (__half2float(reinterpret_cast<const half*>(&packs[p])[i]) - mean) * scale;
                reinterpret_cast<half*>(&result)[i] =
                    __float2half(normal * __half2float(g[i]) + __half2float(b[i]));
            }
            out[pack] = result;
        }
    }
}

extern "C" __global__ void read_thrice(const half* x, const half* gamma, const half* beta, half* y, int M, int N,
                                       float eps)
{
    const half* const row = x + size_t(blockIdx.x) * N;
    half* const out = y + size_t(blockIdx.x) * N;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < N; i += 32) sum += __half2float(row[i]);
    const float mean = warp_sum(sum) / N;
    for (int i = threadIdx.x; i < N; i += 32) {
        const float d = __half2float(row[i]) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(warp_sum(squares) / N + eps);
    for (int i = threadIdx.x; i < N; i += 32) {
        const float normal = (__half2float(row[i]) - mean) * scale;
        out[i] = __float2half(normal * __half2float(gamma[i]) + __half2float(beta[i]));
    }
}
