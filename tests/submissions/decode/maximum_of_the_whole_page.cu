// Mistake: what lies behind the last token, in the rest of its page, has no weight, but a part in the maximum.
//
// /// launch
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "O", "B", "H", "KV", "T", "scale"]
// grid = ["cdiv(B * H, 4)"]
// block = [128]
// ///
#include <cuda_fp16.h>

constexpr int D = 128;
constexpr int PAGE = 16;

extern "C" __global__ void decode(const half* Q, const half* K, const half* V, const int* table,
                                  const int* lengths, half* O, int B, int H, int KV, int T, float scale)
{
    const int query = blockIdx.x * 4 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (query >= B * H) {
        return;
    }
    const int b = query / H;
    const int kv = query % H / (H / KV);
    const int length = lengths[b];
    const int* const row = table + size_t(b) * ((T + PAGE - 1) / PAGE);
    struct alignas(8) Pack { half x[4]; };
    float q[4];
    for (int i = 0; i < 4; ++i) {
        q[i] = __half2float(Q[size_t(query) * D + 4 * lane + i]) * scale;
    }
    float m = -INFINITY;
    float l = 0.0f;
    float o[4] = {};
    for (int t = 0; t < (length + 15) / 16 * 16; ++t) {
        const bool valid = t < length;
        const size_t at = ((size_t(row[t / PAGE]) * KV + kv) * PAGE + t % PAGE) * D + 4 * lane;
        const Pack k = *reinterpret_cast<const Pack*>(K + at), v = *reinterpret_cast<const Pack*>(V + at);
        float s = 0.0f;
        for (int i = 0; i < 4; ++i) {
            s += q[i] * __half2float(k.x[i]);
        }
        for (int step = 16; step > 0; step /= 2) {
            s += __shfl_xor_sync(0xffffffff, s, step);
        }
        const float now = fmaxf(m, s);
        const float correction = expf(m - now);
        const float weight = valid ? expf(s - now) : 0.0f;
        l = l * correction + weight;
        for (int i = 0; i < 4; ++i) {
            o[i] = o[i] * correction + weight * __half2float((valid ? v.x[i] : half(0)));
        }
        m = now;
    }
    for (int i = 0; i < 4; ++i) {
        O[size_t(query) * D + 4 * lane + i] = __float2half(length > 0 ? o[i] / l : 0.0f);
    }
}
