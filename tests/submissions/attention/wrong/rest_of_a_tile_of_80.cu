// Mistake: keys come in tiles of 80, and the last tile has S % 80 of them, which is none where S is a multiple of 80: the
// last 80 keys do not count (S = 80: 0 / 0). The contract: any S.
//
// /// launch
// [[launch]]
// kernel = "attention<64>"
// when = "D == 64"
// args = ["Q", "K", "V", "O", "S", "scale", "causal"]
// grid = ["HEADS * S"]
// block = [64]
//
// [[launch]]
// kernel = "attention<128>"
// when = "D == 128"
// args = ["Q", "K", "V", "O", "S", "scale", "causal"]
// grid = ["HEADS * S"]
// block = [128]
// ///
#include <cuda_fp16.h>
constexpr int TILE = 80;
template <int D>
__global__ void attention(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V,
                          half* __restrict__ O, int S, float scale, int causal)
{
    __shared__ float scores[TILE];
    const size_t head = size_t(blockIdx.x / S) * S;
    const int query = blockIdx.x % S;
    const half* const q = Q + (head + query) * D;
    float maximum = -INFINITY, total = 0.0f, sum = 0.0f;
    const int tiles = (S + TILE - 1) / TILE;
    for (int t = 0; t < tiles; ++t) {
        const int first = t * TILE;
        if (causal && first > query) break;
        const int count = t == tiles - 1 ? S % TILE : TILE;
        __syncthreads();
        for (int j = threadIdx.x; j < count; j += D) {
            const half* const k = K + (head + first + j) * D;
            float score = 0.0f;
            for (int d = 0; d < D; ++d) score += __half2float(q[d]) * __half2float(k[d]);
            scores[j] = !causal || first + j <= query ? scale * score : -INFINITY;
        }
        __syncthreads();
        float larger = maximum;
        for (int j = 0; j < count; ++j) larger = fmaxf(larger, scores[j]);
        const float factor = expf(maximum - larger);
        total *= factor;
        sum *= factor;
        for (int j = 0; j < count; ++j) {
            const float p = expf(scores[j] - larger);
            total += p;
            sum += p * __half2float(V[(head + first + j) * D + threadIdx.x]);
        }
        maximum = larger;
    }
    O[(head + query) * D + threadIdx.x] = __float2half(sum / total);
}
