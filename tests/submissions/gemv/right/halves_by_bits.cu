// Two halves are loaded as an unsigned where rows allow it, and each is turned into a float by way of its bits.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, 8)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

__device__ float value_of(unsigned bits)
{
    return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}

extern "C" __global__ void gemv(const half* W, const half* x, half* y, int N, int K)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= N) {
        return;
    }
    const half* const weights = W + size_t(row) * K;
    const int pairs = K % 2 == 0 ? K / 2 : 0;
    float even = 0.0f, odd = 0.0f;
    for (int pair = threadIdx.x; pair < pairs; pair += 32) {
        const unsigned w = reinterpret_cast<const unsigned*>(weights)[pair];
        const unsigned input = reinterpret_cast<const unsigned*>(x)[pair];
        even += value_of(w & 0xffff) * value_of(input & 0xffff);
        odd += value_of(w >> 16) * value_of(input >> 16);
    }
    for (int k = 2 * pairs + threadIdx.x; k < K; k += 32) {
        even += __half2float(weights[k]) * __half2float(x[k]);
    }
    even += odd;
    for (int distance = 16; distance > 0; distance /= 2) {
        even += __shfl_down_sync(0xffffffff, even, distance);
    }
    if (threadIdx.x == 0) {
        y[row] = __float2half(even);
    }
}
