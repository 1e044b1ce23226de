// A block takes a row; its 128 sums are added up by a tree in shared memory, with a barrier before each step.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["N"]
// block = [128]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void gemv(const half* W, const half* x, half* y, int N, int K)
{
    __shared__ float sums[128];
    float sum = 0.0f;
    for (int k = threadIdx.x; k < K; k += 128) {
        sum += __half2float(W[size_t(blockIdx.x) * K + k]) * __half2float(x[k]);
    }
    sums[threadIdx.x] = sum;
    for (int half_of = 64; half_of > 0; half_of /= 2) {
        __syncthreads();
        if (threadIdx.x < half_of) {
            sums[threadIdx.x] += sums[threadIdx.x + half_of];
        }
    }
    if (threadIdx.x == 0) {
        y[blockIdx.x] = __float2half(sums[0]);
    }
}
