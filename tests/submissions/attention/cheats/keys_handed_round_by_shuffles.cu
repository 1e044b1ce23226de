// A lane has a query. Keys and rows of V lie in the lanes of the warp, 16 bytes each, and go round by shuffles, one for
// two multiply-adds: nothing is read from shared memory at all, and nothing that came is used twice.
//
// deserves: 01_online
//
// /// launch
// [[launch]]
// kernel = "attention<64>"
// when = "D == 64"
// args = ["Q", "K", "V", "O", "S", "scale", "causal"]
// grid = ["HEADS * cdiv(S, 32)"]
// block = [32]
//
// [[launch]]
// kernel = "attention<128>"
// when = "D == 128"
// args = ["Q", "K", "V", "O", "S", "scale", "causal"]
// grid = ["HEADS * cdiv(S, 32)"]
// block = [32]
// ///

#include <cuda_fp16.h>

constexpr unsigned ALL = 0xffffffff;

__device__ float2 pair(unsigned bits)
{
    return __half22float2(*reinterpret_cast<const half2*>(&bits));
}

template <int D>
__global__ void __launch_bounds__(32)
attention(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V, half* __restrict__ O, int S,
          float scale, int causal)
{
    constexpr int LANES = D / 8;        // that hold a row: 8 or 16
    constexpr int ROWS = 32 / LANES;    // rows of a load of the warp: 4 or 2
    const int tiles = (S + 31) / 32, lane = threadIdx.x;
    const size_t head = size_t(blockIdx.x / tiles) * S * D;
    const int query = blockIdx.x % tiles * 32 + lane;
    unsigned q[D / 2];
    float o[D] = {};
    #pragma unroll
    for (int i = 0; i < D / 8; ++i) {
        const uint4 four = reinterpret_cast<const uint4*>(Q + head + size_t(min(query, S - 1)) * D)[i];
        q[4 * i] = four.x; q[4 * i + 1] = four.y; q[4 * i + 2] = four.z; q[4 * i + 3] = four.w;
    }
    float maximum = -INFINITY, total = 0.0f;
    for (int first = 0; first < S; first += ROWS) {
        const int mine = min(first + lane / LANES, S - 1);
        const uint4 k = reinterpret_cast<const uint4*>(K + head + size_t(mine) * D)[lane % LANES];
        const uint4 v = reinterpret_cast<const uint4*>(V + head + size_t(mine) * D)[lane % LANES];
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int key = first + r;
            if (key >= S) break;
            float score = 0.0f;
            #pragma unroll
            for (int d = 0; d < D / 2; ++d) {
                const unsigned word = d % 4 == 0 ? k.x : d % 4 == 1 ? k.y : d % 4 == 2 ? k.z : k.w;
                const float2 a = pair(q[d]), b = pair(__shfl_sync(ALL, word, r * LANES + d / 4));
                score += a.x * b.x;
                score += a.y * b.y;
            }
            const bool counts = !causal || key <= query;
            score = counts ? score * scale : -INFINITY;
            const float larger = score > maximum + 8.0f || maximum == -INFINITY ? fmaxf(maximum, score) : maximum;
            const float factor = expf(maximum - larger), p = expf(score - larger);
            maximum = larger;
            total = total * factor + p;
            if (__any_sync(ALL, factor != 1.0f)) {
                #pragma unroll
                for (int d = 0; d < D; ++d) o[d] *= factor;
            }
            #pragma unroll
            for (int d = 0; d < D / 2; ++d) {
                const unsigned word = d % 4 == 0 ? v.x : d % 4 == 1 ? v.y : d % 4 == 2 ? v.z : v.w;
                const float2 b = pair(__shfl_sync(ALL, word, r * LANES + d / 4));
                if (counts) {
                    o[2 * d] += p * b.x;
                    o[2 * d + 1] += p * b.y;
                }
            }
        }
    }
    const float by = 1.0f / total;
    if (query < S) {
        #pragma unroll
        for (int i = 0; i < D / 8; ++i) {
            uint4 packed;
            const half2 h0 = __floats2half2_rn(o[8 * i] * by, o[8 * i + 1] * by), h1 = __floats2half2_rn(o[8 * i + 2] * by, o[8 * i + 3] * by);
            const half2 h2 = __floats2half2_rn(o[8 * i + 4] * by, o[8 * i + 5] * by), h3 = __floats2half2_rn(o[8 * i + 6] * by, o[8 * i + 7] * by);
            packed.x = *reinterpret_cast<const unsigned*>(&h0); packed.y = *reinterpret_cast<const unsigned*>(&h1);
            packed.z = *reinterpret_cast<const unsigned*>(&h2); packed.w = *reinterpret_cast<const unsigned*>(&h3);
            __stcg(reinterpret_cast<uint4*>(O + head + size_t(query) * D) + i, packed);
        }
    }
}
