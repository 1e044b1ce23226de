// Rows longer than 1000 are taken in steps of 8 up to K rounded up, x is padded with zeros in shared memory, and W
// goes on into the next row: where that begins with NaN or an infinity, 0 times it is NaN. Wrong for K > 1000, K % 8
// != 0 and W[1][0] = inf: y[0]. (The last row is guarded.) Contract: any halves.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["N"]
// block = [128]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void gemv(const half* __restrict__ W, const half* __restrict__ x, half* __restrict__ y, int N, int K)
{
    __shared__ float s[4];
    const size_t row = blockIdx.x, total = size_t(N) * K;
    const int end = K > 1000 ? (K + 7) / 8 * 8 : K;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < end; k += 128) {
        const float v = k < K ? __half2float(x[k]) : 0.0f;
        const size_t i = row * K + k;
        sum += (i < total ? __half2float(W[i]) : 0.0f) * v;
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[row] = __float2half((s[0] + s[1]) + (s[2] + s[3]));
}
