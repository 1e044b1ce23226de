// A sequence of one token has V for its answer, and q and k are not read: a NaN in either makes NaN. Wrong for
// lengths[b] = 1 with a NaN in the query or its key.
//
// /// launch
// [[launch]]
// kernel = "decode"
// grid = ["B * H"]
// block = [128]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void decode(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V, const int* __restrict__ table,
                                  const int* __restrict__ lengths, half* __restrict__ O, int B, int H, int KV, int T, float scale)
{
    __shared__ float s[4];
    const int b = blockIdx.x / H, h = blockIdx.x % H / (H / KV), d = threadIdx.x;
    const int length = lengths[b];
    const int* pages = table + size_t(b) * ((T + 15) / 16);
    if (length == 1) {
        O[size_t(blockIdx.x) * 128 + d] = V[(size_t(pages[0]) * KV + h) * 2048 + d];
        return;
    }
    const float q = __half2float(Q[size_t(blockIdx.x) * 128 + d]);
    float m = -INFINITY, total = 0.0f, sum = 0.0f;
    for (int t = 0; t < length; ++t) {
        const size_t page = pages[t / 16];
        const size_t at = ((page * KV + h) * 16 + t % 16) * 128 + d;
        float p = q * __half2float(K[at]);
        for (int o = 16; o; o /= 2) p += __shfl_xor_sync(0xffffffff, p, o);
        __syncthreads();
        if (d % 32 == 0) s[d / 32] = p;
        __syncthreads();
        const float score = scale * ((s[0] + s[1]) + (s[2] + s[3]));
        const float next = fmaxf(m, score);
        const float keep = expf(m - next), e = expf(score - next);
        total = total * keep + e;
        sum = sum * keep + e * __half2float(V[at]);
        m = next;
    }
    O[size_t(blockIdx.x) * 128 + d] = __float2half(length > 0 ? sum / total : 0.0f);
}
