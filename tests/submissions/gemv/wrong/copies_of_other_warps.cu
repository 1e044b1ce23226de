// cp.async.wait_all waits for the thread's own copies: what other warps have copied is read without a barrier.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["N"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>
constexpr int BLOCK = 128, TILE = 1024;
// x comes by cp.async, a tile at a time; where K is odd it goes by hand.
extern "C" __global__ void gemv(const half* __restrict__ W, const half* __restrict__ x, half* __restrict__ y, int N,
                                int K)
{
    __shared__ __align__(16) half tile[TILE];
    __shared__ float sums[BLOCK / 32];
    const half* row = W + size_t(blockIdx.x) * K;
    float sum = 0;
    for (int first = 0; first < K; first += TILE) {
        const int count = min(TILE, K - first);
        __syncthreads();
        for (int i = threadIdx.x * 8; i < count; i += BLOCK * 8) {
            const int bytes = min(8, count - i) * 2;
            if (bytes == 16) {
                asm volatile(
                    "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(tile + i)),
                    "l"(x + first + i)
                    : "memory");
            } else {
                for (int j = 0; j < bytes / 2; ++j)
                    tile[i + j] = x[first + i + j];
            }
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncwarp();
        for (int i = threadIdx.x; i < count; i += BLOCK)
            sum += __half2float(row[first + i]) * __half2float(tile[i]);
    }
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        y[blockIdx.x] = __float2half(sums[0] + sums[1] + sums[2] + sums[3]);
}
