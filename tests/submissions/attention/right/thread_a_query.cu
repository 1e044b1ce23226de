// A thread a query, which goes along its keys twice, up to itself where causal asks for it: nothing is shared or stored.
//
// /// launch
// [[launch]]
// kernel = "attention"
// grid = ["cdiv(HEADS * S, 64)"]
// block = [64]
// ///

#include <cuda_fp16.h>

__device__ float score_of(const half* q, const half* k, int D, float scale)
{
    float score = 0.0f;
    for (int d = 0; d < D; ++d) {
        score = fmaf(__half2float(q[d]), __half2float(k[d]), score);
    }
    return scale * score;
}

extern "C" __global__ void attention(const half* Q, const half* K, const half* V, half* O, int B, int H, int S, int D,
                                     float scale, int causal)
{
    const size_t row = size_t(blockIdx.x) * 64 + threadIdx.x;
    if (row >= size_t(B) * H * S) {
        return;
    }
    const half* const q = Q + row * D;
    const size_t head = row / S * S * D;
    const int keys = causal ? int(row % S) + 1 : S;

    float maximum = -INFINITY;
    for (int key = 0; key < keys; ++key) {
        maximum = fmaxf(maximum, score_of(q, K + head + size_t(key) * D, D, scale));
    }
    float sum = 0.0f;
    float o[128] = {};
    for (int key = 0; key < keys; ++key) {
        const float p = expf(score_of(q, K + head + size_t(key) * D, D, scale) - maximum);
        sum += p;
        for (int d = 0; d < D; ++d) {
            o[d] += p * __half2float(V[head + size_t(key) * D + d]);
        }
    }
    for (int d = 0; d < D; ++d) {
        O[row * D + d] = __float2half(o[d] / sum);
    }
}
