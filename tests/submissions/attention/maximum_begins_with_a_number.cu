// The running maximum begins with -100, and scores are smaller where queries and keys are opposite.
//
// /// launch
// [[launch]]
// kernel = "attention"
// grid = ["cdiv(HEADS * S, 4)"]
// block = [32, 4]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void attention(const half* Q, const half* K, const half* V, half* O, int B, int H, int S, int D,
                                     float scale, int causal)
{
    const size_t row = size_t(blockIdx.x) * 4 + threadIdx.y;
    if (row >= size_t(B) * H * S) {
        return;
    }
    const size_t head = row / S * S * D;
    const int keys = causal ? int(row % S) + 1 : S;

    float maximum = -100.0f, sum = 0.0f;
    float o[4] = {};
    for (int key = 0; key < keys; ++key) {
        float score = 0.0f;
        for (int d = threadIdx.x; d < D; d += 32) {
            score += __half2float(Q[row * D + d]) * __half2float(K[head + size_t(key) * D + d]);
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            score += __shfl_xor_sync(0xffffffff, score, distance);
        }
        score *= scale;
        const float larger = fmaxf(maximum, score);
        const float factor = __expf(maximum - larger), p = __expf(score - larger);
        maximum = larger;
        sum = sum * factor + p;
        for (int i = 0; i < D / 32; ++i) {
            o[i] = o[i] * factor + p * __half2float(V[head + size_t(key) * D + threadIdx.x + 32 * i]);
        }
    }
    for (int i = 0; i < D / 32; ++i) {
        O[row * D + threadIdx.x + 32 * i] = __float2half(o[i] / sum);
    }
}
