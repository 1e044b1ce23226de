// A warp takes a query and goes along its tokens, 32 at a time:
// their scores, an online softmax of these, and then their rows of
// V, of which a lane has four columns.
//
// /// launch
// [[launch]]
// kernel = "decode"
// args = [
//     "Q", "K", "V", "table", "lengths", "O", "B * H", "H", "KV",
//     "T", "scale",
// ]
// grid = ["cdiv(B * H, WARPS)"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

constexpr int D = 128;
constexpr int PAGE = 16;
constexpr int WARP = 32;
constexpr int WARPS = 4;
constexpr int OWN = D / WARP;
constexpr unsigned ALL = 0xffffffff;

struct alignas(OWN * sizeof(half)) Pack {
    half lane[OWN];
};

__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL, value, distance);
    }
    return value;
}

__device__ float warp_max(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value =
            fmaxf(value, __shfl_xor_sync(ALL, value, distance));
    }
    return value;
}

// O = softmax(scale · q · Kᵀ) · V, over a cache in pages.
extern "C" __global__ void __launch_bounds__(WARP * WARPS)
decode(const half* __restrict__ Q, const half* __restrict__ K,
       const half* __restrict__ V, const int* __restrict__ table,
       const int* __restrict__ lengths, half* __restrict__ O,
       int queries, int H, int KV, int T, float scale)
{
    const int lane = threadIdx.x;
    const int query = blockIdx.x * WARPS + threadIdx.y;
    if (query >= queries) {
        return;
    }
    const int sequence = query / H;
    const int shared_head = query % H / (H / KV);
    const int length = lengths[sequence];
    const int* const pages =
        table + size_t(sequence) * ((T + PAGE - 1) / PAGE);
    const half* const q = Q + size_t(query) * D;
    float maximum = -INFINITY;
    float total = 0.0f;
    float sums[OWN] = {};
    for (int first = 0; first < length; first += WARP) {
        const int count = min(WARP, length - first);
        int row = 0;  // of K and V, of this lane's token
        if (lane < count) {
            const int token = first + lane;
            row = (pages[token / PAGE] * KV + shared_head) * PAGE +
                  token % PAGE;
        }
        float score = -INFINITY;
        if (lane < count) {
            const half* const k = K + size_t(row) * D;
            score = 0.0f;
            #pragma unroll 8
            for (int d = 0; d < D; ++d) {
                score += __half2float(q[d]) * __half2float(k[d]);
            }
            score *= scale;
        }
        const float larger = fmaxf(maximum, warp_max(score));
        const float correction = expf(maximum - larger);
        const float weight = expf(score - larger);
        maximum = larger;
        total = total * correction + warp_sum(weight);
        #pragma unroll
        for (float& sum : sums) {
            sum *= correction;
        }
        #pragma unroll 8
        for (int other = 0; other < count; ++other) {
            const size_t at = __shfl_sync(ALL, row, other);
            const Pack v = reinterpret_cast<const Pack*>(V)
                [at * WARP + lane];
            const float of_row = __shfl_sync(ALL, weight, other);
            #pragma unroll
            for (int i = 0; i < OWN; ++i) {
                sums[i] += of_row * __half2float(v.lane[i]);
            }
        }
    }
    Pack o;
    #pragma unroll
    for (int i = 0; i < OWN; ++i) {
        o.lane[i] =
            __float2half(length > 0 ? sums[i] / total : 0.0f);
    }
    reinterpret_cast<Pack*>(O)[size_t(query) * WARP + lane] = o;
}
