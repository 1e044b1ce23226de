// A block keeps a piece of x as floats in shared memory, and each of its warps multiplies four rows by it.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, 32)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

constexpr int PIECE = 2048;

extern "C" __global__ void gemv(const half* W, const half* x, half* y, int N, int K)
{
    __shared__ float piece[PIECE];
    const int first = (blockIdx.x * 8 + threadIdx.y) * 4;
    float sums[4] = {};
    for (int begin = 0; begin < K; begin += PIECE) {
        const int length = min(PIECE, K - begin);
        for (int k = threadIdx.y * 32 + threadIdx.x; k < length; k += 256) {
            piece[k] = __half2float(x[begin + k]);
        }
        __syncthreads();
        for (int r = 0; r < 4 && first + r < N; ++r) {
            const half* const weights = W + size_t(first + r) * K + begin;
            for (int k = threadIdx.x; k < length; k += 32) {
                sums[r] += __half2float(weights[k]) * piece[k];
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r) {
        for (int distance = 16; distance > 0; distance /= 2) {
            sums[r] += __shfl_down_sync(0xffffffff, sums[r], distance);
        }
        if (threadIdx.x == 0 && first + r < N) {
            y[first + r] = __float2half(sums[r]);
        }
    }
}
