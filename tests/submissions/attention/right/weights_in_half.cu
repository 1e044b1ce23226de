// The softmax is stored, in halves, and multiplied by V as it is: nothing is divided at the end.
//
// /// launch
// [[scratch]]
// name = "P"
// dtype = "float16"
// shape = ["HEADS", "S", "S"]
//
// [[launch]]
// kernel = "weights"
// args = ["Q", "K", "P", "HEADS * S", "S", "D", "scale", "causal"]
// grid = ["cdiv(HEADS * S, 64)"]
// block = [64]
//
// [[launch]]
// kernel = "outputs"
// args = ["P", "V", "O", "S", "D"]
// grid = ["HEADS * S"]
// block = ["D"]
// ///

#include <cuda_fp16.h>

__device__ float score_of(const half* q, const half* k, int D, float scale)
{
    float score = 0.0f;
    for (int d = 0; d < D; ++d) {
        score += __half2float(q[d]) * __half2float(k[d]);
    }
    return scale * score;
}

extern "C" __global__ void weights(const half* Q, const half* K, half* P, int rows, int S, int D, float scale,
                                   int causal)
{
    const size_t row = size_t(blockIdx.x) * 64 + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const half* const q = Q + row * D;
    const half* const k = K + row / S * S * D;
    const int keys = causal ? int(row % S) + 1 : S;
    float maximum = -INFINITY, sum = 0.0f;
    for (int key = 0; key < keys; ++key) {
        maximum = fmaxf(maximum, score_of(q, k + size_t(key) * D, D, scale));
    }
    for (int key = 0; key < keys; ++key) {
        sum += expf(score_of(q, k + size_t(key) * D, D, scale) - maximum);
    }
    for (int key = 0; key < S; ++key) {
        const float p = key < keys ? expf(score_of(q, k + size_t(key) * D, D, scale) - maximum) / sum : 0.0f;
        P[row * S + key] = __float2half(p);
    }
}

extern "C" __global__ void outputs(const half* P, const half* V, half* O, int S, int D)
{
    const size_t row = blockIdx.x;
    const half* const v = V + row / S * S * D + threadIdx.x;
    float o = 0.0f;
    for (int key = 0; key < S; ++key) {
        o += __half2float(P[row * S + key]) * __half2float(v[size_t(key) * D]);
    }
    O[row * D + threadIdx.x] = __float2half(o);
}
