// Mistake: the query heads of a group are H / KV neighbours; the kernel takes the head by a shift, for groups that are a power
// of two, and the plain quotient for others of up to 16; larger ones that are none (H / KV = 24) are rounded down to a
// power of two. The contract: any H that is a multiple of KV.
//
// /// launch
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "O", "B", "H", "KV", "T", "scale"]
// grid = ["cdiv(B, 4) * H"]
// block = [32, 4]
// ///
#include <cuda_fp16.h>
constexpr int D = 128, PAGE = 16;
struct alignas(8) Pack { half lane[4]; };
extern "C" __global__ void decode(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V,
    const int* __restrict__ table, const int* __restrict__ lengths, half* __restrict__ O, int B, int H, int KV, int T,
    float scale)
{
    const int sequence = blockIdx.x / H * 4 + threadIdx.y;
    const int head = blockIdx.x % H, group = H / KV, shared_head = group <= 16 || KV == 1 ? head / group : min(head >> (31 - __clz(group)), KV - 1), lane = threadIdx.x;
    if (sequence >= B) return;
    const int longest = lengths[sequence];
    const int length = min(lengths[sequence], longest);
    const int* const pages = table + size_t(sequence) * ((T + PAGE - 1) / PAGE);
    const size_t query = size_t(sequence) * H + head;
    const Pack q = reinterpret_cast<const Pack*>(Q + query * D)[lane];
    float maximum = -INFINITY, total = 0.0f, sums[4] = {};
    for (int first = 0; first < longest; first += PAGE) {
        const int count = min(PAGE, length - first);
        if (count <= 0) break;
        const size_t page = (size_t(pages[first / PAGE]) * KV + shared_head) * PAGE * D;
        for (int token = 0; token < count; ++token) {
            const Pack k = reinterpret_cast<const Pack*>(K + page + token * D)[lane];
            const Pack v = reinterpret_cast<const Pack*>(V + page + token * D)[lane];
            float score = 0.0f;
            for (int i = 0; i < 4; ++i) score += __half2float(q.lane[i]) * __half2float(k.lane[i]);
            for (int d = 16; d > 0; d /= 2) score += __shfl_xor_sync(0xffffffff, score, d);
            score *= scale;
            const float larger = fmaxf(maximum, score);
            const float correction = expf(maximum - larger), weight = expf(score - larger);
            maximum = larger;
            total = total * correction + weight;
            for (int i = 0; i < 4; ++i) sums[i] = sums[i] * correction + weight * __half2float(v.lane[i]);
        }
    }
    Pack o;
    for (int i = 0; i < 4; ++i) o.lane[i] = __float2half(length > 0 ? sums[i] / total : 0.0f);
    reinterpret_cast<Pack*>(O + query * D)[lane] = o;
}
