// Mistake: rows of more than 16,512 weights are taken four together; of the N % 4 that are left one is taken. Wrong for
// N = 6, K = 20,480. Contract: any N, any K that is a multiple of 128.
//
// /// launch
// [[launch]]
// kernel = "gemv_int4"
// grid = ["cdiv(N, 4)"]
// block = [128]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void gemv_int4(const unsigned* __restrict__ W, const half* __restrict__ scales,
                                     const half* __restrict__ x, half* __restrict__ y, int N, int K)
{
    const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    const int whole = N / 4 * 4;
    if (row >= N || (N > 4 && K > 16512 && row > whole)) return;
    const unsigned* const words = W + size_t(row) * (K / 8);
    const half* const of_groups = scales + size_t(row) * (K / 128);
    float sum = 0.0f;
    for (int word = lane; word < K / 8; word += 32) {
        float products = 0.0f;
        for (int i = 0; i < 8; ++i)
            products += float(int(words[word] >> 4 * i & 15) - 8) * __half2float(x[8 * word + i]);
        sum += __half2float(of_groups[word / 16]) * products;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = __float2half(sum);
}
