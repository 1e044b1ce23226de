// Rows of any length are read 16 bytes at a time: up to the first aligned address and behind the last one, single
// halves. x is not aligned where W is, and is read by the half.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, 8)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

struct alignas(16) Pack {
    half lane[8];
};

extern "C" __global__ void gemv(const half* W, const half* x, half* y, int N, int K)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= N) {
        return;
    }
    const half* const weights = W + size_t(row) * K;
    const int misplaced = int(reinterpret_cast<size_t>(weights) / sizeof(half) % 8);
    const int head = min(K, (8 - misplaced) % 8);
    const int packs = (K - head) / 8;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < head; k += 32) {
        sum += __half2float(weights[k]) * __half2float(x[k]);
    }
    for (int pack = threadIdx.x; pack < packs; pack += 32) {
        const Pack w = *reinterpret_cast<const Pack*>(weights + head + 8 * pack);
        for (int i = 0; i < 8; ++i) {
            sum += __half2float(w.lane[i]) * __half2float(x[head + 8 * pack + i]);
        }
    }
    for (int k = head + 8 * packs + threadIdx.x; k < K; k += 32) {
        sum += __half2float(weights[k]) * __half2float(x[k]);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x == 0) {
        y[row] = __float2half(sum);
    }
}
