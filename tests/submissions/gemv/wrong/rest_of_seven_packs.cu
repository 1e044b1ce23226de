// Mistake: where K is a multiple of 8 a lane takes seven packs of 8 a turn (1792 halves a warp); of the rest it takes up
// to six packs, so that products are lost for K % 1792 > 1536 (e.g. K = 1600). The contract: any K.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, 8)"]
// block = [32, 8]
// ///
#include <cuda_fp16.h>

__device__ float of_pack(const half* w, const half* x)
{
    const uint4 a = *reinterpret_cast<const uint4*>(w), b = *reinterpret_cast<const uint4*>(x);
    const half* const p = reinterpret_cast<const half*>(&a);
    const half* const q = reinterpret_cast<const half*>(&b);
    float sum = 0.0f;
    for (int i = 0; i < 8; ++i) sum += __half2float(p[i]) * __half2float(q[i]);
    return sum;
}
extern "C" __global__ void gemv(const half* __restrict__ W, const half* __restrict__ x, half* __restrict__ y,
                                int N, int K)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= N) return;
    const half* const w = W + size_t(row) * K;
    float sum = 0.0f;
    if (K % 8 == 0) {
        const int whole = K / 1792 * 1792;
        for (int first = 8 * threadIdx.x; first < whole; first += 1792)
            for (int i = 0; i < 7; ++i) sum += of_pack(w + first + 256 * i, x + first + 256 * i);
        for (int i = 0; i < 6; ++i) {
            const int k = whole + 8 * threadIdx.x + 256 * i;
            if (k < K) sum += of_pack(w + k, x + k);
        }
    } else {
        for (int k = threadIdx.x; k < K; k += 32) sum += __half2float(w[k]) * __half2float(x[k]);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) y[row] = __float2half(sum);
}
