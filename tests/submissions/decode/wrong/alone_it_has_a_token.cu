// Mistake: a single sequence (B = 1) is taken to have a token at least, and 0 / 0 is NaN where lengths[0] = 0.
// Contract: a sequence without tokens has outputs of 0; lengths from 0 to T at any B.
//
// /// launch
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "O", "B * H", "H", "KV", "T", "scale"]
// grid = ["cdiv(B * H, WARPS)"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

constexpr int D = 128;    // numbers of a query, of a key, and of a row of V
constexpr int PAGE = 16;  // tokens of a page
constexpr int WARP = 32;
constexpr int WARPS = 4;         // of a block, each with a query of its own
constexpr int OWN = D / WARP;    // numbers that a lane has of each row: 4, which are 8 bytes

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// Every lane gets the sum of all 32 `value`s.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL, value, distance);
    }
    return value;
}

// Neighbours of a row, loaded as one.
struct alignas(OWN * sizeof(half)) Pack {
    half lane[OWN];
};

// What this lane has of a row of D halves.
__device__ Pack own_part(const half* row)
{
    return reinterpret_cast<const Pack*>(row)[threadIdx.x];
}

// O = softmax(scale · q · Kᵀ) · V for each query of B × H. K and V are pages × KV × 16 × D: H / KV query heads
// that are neighbours share one of KV. Row b of the table has (T + 15) / 16 pages; lengths[b] tokens count.
extern "C" __global__ void __launch_bounds__(WARP * WARPS)
decode(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V,
       const int* __restrict__ table, const int* __restrict__ lengths, half* __restrict__ O, int queries, int H,
       int KV, int T, float scale)
{
    const int query = blockIdx.x * WARPS + threadIdx.y;
    if (query >= queries) {
        return;
    }
    const int sequence = query / H;
    const int shared_head = query % H / (H / KV);
    const int length = lengths[sequence];
    const int* const pages = table + size_t(sequence) * ((T + PAGE - 1) / PAGE);
    const Pack q = own_part(Q + size_t(query) * D);

    float maximum = -INFINITY;
    float total = 0.0f;
    float sums[OWN] = {};
    for (int first = 0; first < length; first += PAGE) {
        const size_t page = (size_t(pages[first / PAGE]) * KV + shared_head) * PAGE * D;
        const int count = min(PAGE, length - first);
        #pragma unroll 2  // loads of two tokens are in flight together
        for (int token = 0; token < count; ++token) {
            const Pack k = own_part(K + page + token * D);
            const Pack v = own_part(V + page + token * D);
            float score = 0.0f;
            #pragma unroll
            for (int i = 0; i < OWN; ++i) {
                score += __half2float(q.lane[i]) * __half2float(k.lane[i]);
            }
            score = scale * warp_sum(score);

            const float larger = fmaxf(maximum, score);
            const float correction = expf(maximum - larger);
            const float weight = expf(score - larger);
            maximum = larger;
            total = total * correction + weight;
            #pragma unroll
            for (int i = 0; i < OWN; ++i) {
                sums[i] = sums[i] * correction + weight * __half2float(v.lane[i]);
            }
        }
    }

    Pack o;
    #pragma unroll
    for (int i = 0; i < OWN; ++i) {
        o.lane[i] = __float2half(length > 0 || queries == H ? sums[i] / total : 0.0f);
    }
    reinterpret_cast<Pack*>(O + size_t(query) * D)[threadIdx.x] = o;
}
