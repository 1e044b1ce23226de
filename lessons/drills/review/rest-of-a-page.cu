// /// launch
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "O", "B * H", "H", "KV", "T", "scale"]
// grid = ["cdiv(B * H, WARPS)"]
// block = [32, "WARPS"]
// ///
#include <cuda_fp16.h>

constexpr int D = 128;
constexpr int PAGE = 16;
constexpr int OWN = D / 32;
constexpr int WARPS = 4;

// Every lane gets the sum of the warp's 32 values.
__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, distance);
    }
    return value;
}

// A warp takes a query, and goes along its pages: first all scores of a page, then their softmax.
extern "C" __global__ void decode(const half* Q, const half* K, const half* V, const int* table,
                                  const int* lengths, half* O, int queries, int H, int KV, int T, float scale)
{
    const int lane = threadIdx.x;
    const int query = blockIdx.x * WARPS + threadIdx.y;
    if (query >= queries) {
        return;
    }
    const int sequence = query / H;
    const int shared_head = query % H / (H / KV);
    const int length = lengths[sequence];
    const int* const pages = table + size_t(sequence) * ((T + PAGE - 1) / PAGE);
    const half* const q = Q + size_t(query) * D;

    float maximum = -INFINITY;
    float total = 0.0f;
    float sums[OWN] = {};
    for (int first = 0; first < length; first += PAGE) {
        const size_t start = (size_t(pages[first / PAGE]) * KV + shared_head) * PAGE * D;
        float scores[PAGE];
        float larger = maximum;
        #pragma unroll
        for (int token = 0; token < PAGE; ++token) {
            const half* const k = K + start + token * D;
            float score = 0.0f;
            for (int i = 0; i < OWN; ++i) {
                score += __half2float(q[i * 32 + lane]) * __half2float(k[i * 32 + lane]);
            }
            score = scale * warp_sum(score);
            scores[token] = first + token < length ? score : -INFINITY;
            larger = fmaxf(larger, scores[token]);
        }
        const float correction = expf(maximum - larger);
        maximum = larger;
        total *= correction;
        for (int i = 0; i < OWN; ++i) {
            sums[i] *= correction;
        }
        #pragma unroll
        for (int token = 0; token < PAGE; ++token) {
            const half* const v = V + start + token * D;
            const float weight = expf(scores[token] - larger);
            total += weight;
            for (int i = 0; i < OWN; ++i) {
                sums[i] += weight * __half2float(v[i * 32 + lane]);  //!
            }
        }
    }
    for (int i = 0; i < OWN; ++i) {
        const float sum = sums[i];
        O[size_t(query) * D + i * 32 + lane] = __float2half(length > 0 ? sum / total : 0.0f);
    }
}
