// A query is multiplied by scale when it is loaded, in floats, and scores are not.
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
constexpr int WARPS = 4;            // of a block, each with a query of its own
constexpr int OWN = 8;              // numbers that a lane has of each row: 16 bytes
constexpr int LANES = D / OWN;      // that have a row: 16
constexpr int TURNS = WARP / LANES; // tokens of a load: 2
constexpr int STEPS = PAGE / TURNS; // loads for the keys of a page, as many for V: 8

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// The lanes that share a row get the sum of their values.
__device__ float row_sum(float value)
{
    #pragma unroll
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL, value, distance);
    }
    return value;
}

// Neighbours of a row, loaded as one.
struct alignas(OWN * sizeof(half)) Pack {
    half lane[OWN];
};

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
    const int turn = threadIdx.x / LANES;  // which of a load's tokens this lane has
    const int part = threadIdx.x % LANES;  // which part of its row

    const Pack of_query = reinterpret_cast<const Pack*>(Q + size_t(query) * D)[part];
    float q[OWN];
    #pragma unroll
    for (int i = 0; i < OWN; ++i) {
        q[i] = scale * __half2float(of_query.lane[i]);
    }

    float maximum = -INFINITY;
    float total = 0.0f;
    float sums[OWN] = {};
    for (int first = 0; first < length; first += PAGE) {
        const size_t page = (size_t(pages[first / PAGE]) * KV + shared_head) * PAGE * D;
        Pack k[STEPS];
        Pack v[STEPS];
        #pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            k[step] = reinterpret_cast<const Pack*>(K + page)[step * WARP + threadIdx.x];
        }
        #pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            const bool inside = first + step * TURNS + turn < length;
            v[step] = inside ? reinterpret_cast<const Pack*>(V + page)[step * WARP + threadIdx.x] : Pack{};
        }

        float scores[STEPS];
        float larger = maximum;
        #pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            float score = 0.0f;
            #pragma unroll
            for (int i = 0; i < OWN; ++i) {
                score += q[i] * __half2float(k[step].lane[i]);
            }
            score = row_sum(score);
            scores[step] = first + step * TURNS + turn < length ? score : -INFINITY;
            larger = fmaxf(larger, scores[step]);
        }
        larger = fmaxf(larger, __shfl_xor_sync(ALL, larger, LANES));  // of both tokens of a load

        const float correction = expf(maximum - larger);
        maximum = larger;
        total *= correction;
        #pragma unroll
        for (float& sum : sums) {
            sum *= correction;
        }
        #pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            const float weight = expf(scores[step] - larger);
            total += weight;
            #pragma unroll
            for (int i = 0; i < OWN; ++i) {
                sums[i] += weight * __half2float(v[step].lane[i]);
            }
        }
    }

    total += __shfl_xor_sync(ALL, total, LANES);
    Pack o;
    #pragma unroll
    for (int i = 0; i < OWN; ++i) {
        const float sum = sums[i] + __shfl_xor_sync(ALL, sums[i], LANES);
        o.lane[i] = __float2half(length > 0 ? sum / total : 0.0f);
    }
    if (turn == 0) {
        reinterpret_cast<Pack*>(O + size_t(query) * D)[part] = o;
    }
}
