// Four warps share a row and add their parts to a float by atomic additions; a second launch rounds it.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["N"]
//
// [[launch]]
// kernel = "add"
// args = ["W", "x", "sums", "N", "K"]
// zero = ["sums"]
// grid = ["N"]
// block = [32, 4]
//
// [[launch]]
// kernel = "rounded"
// args = ["sums", "y", "N"]
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void add(const half* W, const half* x, float* sums, int N, int K)
{
    float sum = 0.0f;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < K; k += 128) {
        sum += __half2float(W[size_t(blockIdx.x) * K + k]) * __half2float(x[k]);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x == 0) {
        atomicAdd(sums + blockIdx.x, sum);
    }
}

extern "C" __global__ void rounded(const float* sums, half* y, int N)
{
    const int row = blockIdx.x * 256 + threadIdx.x;
    if (row < N) {
        y[row] = __float2half(sums[row]);
    }
}
