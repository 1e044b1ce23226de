// A block a query, whose scores stand in shared memory as long as S is.
//
// /// launch
// [[launch]]
// kernel = "attention"
// grid = ["HEADS * S"]
// block = ["D"]
// shared = "4 * S"
// ///

#include <cuda_fp16.h>

extern "C" __global__ void attention(const half* Q, const half* K, const half* V, half* O, int B, int H, int S, int D,
                                     float scale, int causal)
{
    extern __shared__ float p[];
    const size_t row = blockIdx.x;
    const size_t head = row / S * S * D;
    const int keys = causal ? int(row % S) + 1 : S;
    for (int key = threadIdx.x; key < keys; key += D) {
        float score = 0.0f;
        for (int d = 0; d < D; ++d) {
            score += __half2float(Q[row * D + d]) * __half2float(K[head + size_t(key) * D + d]);
        }
        p[key] = scale * score;
    }
    __syncthreads();
    float maximum = p[0], sum = 0.0f, o = 0.0f;
    for (int key = 1; key < keys; ++key) {
        maximum = fmaxf(maximum, p[key]);
    }
    for (int key = 0; key < keys; ++key) {
        const float term = expf(p[key] - maximum);
        sum += term;
        o += term * __half2float(V[head + size_t(key) * D + threadIdx.x]);
    }
    O[row * D + threadIdx.x] = __float2half(o / sum);
}
