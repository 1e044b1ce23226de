// Keys are split into four parts, a thread a query and part. Each leaves its maximum, its sum and its outputs in scratch arrays; a second launch merges them.
//
// /// launch
// [[scratch]]
// name = "states"
// dtype = "float32"
// shape = ["HEADS", "S", "PARTS", 2]
//
// [[scratch]]
// name = "outputs"
// dtype = "float32"
// shape = ["HEADS", "S", "PARTS", "D"]
//
// [[launch]]
// kernel = "part"
// args = ["Q", "K", "V", "states", "outputs", "HEADS * S", "S", "D", "scale", "causal"]
// grid = ["cdiv(HEADS * S, 64)", "PARTS"]
// block = [64]
//
// [[launch]]
// kernel = "merge"
// args = ["states", "outputs", "O", "D"]
// grid = ["HEADS * S"]
// block = ["D"]
// ///

#include <cuda_fp16.h>

constexpr int PARTS = 4;

extern "C" __global__ void part(const half* Q, const half* K, const half* V, float* states, float* outputs, int rows,
                                int S, int D, float scale, int causal)
{
    const size_t row = size_t(blockIdx.x) * 64 + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const size_t head = row / S * S * D;
    const int share = (S + PARTS - 1) / PARTS, first = blockIdx.y * share;
    const int end = min(first + share, causal ? int(row % S) + 1 : S);

    float maximum = -1e30f, sum = 0.0f;
    float o[128] = {};
    for (int key = first; key < end; ++key) {
        float score = 0.0f;
        for (int d = 0; d < D; ++d) {
            score += __half2float(Q[row * D + d]) * __half2float(K[head + size_t(key) * D + d]);
        }
        score *= scale;
        const float larger = fmaxf(maximum, score);
        const float factor = expf(maximum - larger), p = expf(score - larger);
        maximum = larger;
        sum = sum * factor + p;
        for (int d = 0; d < D; ++d) {
            o[d] = o[d] * factor + p * __half2float(V[head + size_t(key) * D + d]);
        }
    }
    const size_t place = row * PARTS + blockIdx.y;
    states[2 * place] = maximum;
    states[2 * place + 1] = sum;
    for (int d = 0; d < D; ++d) {
        outputs[place * D + d] = o[d];
    }
}

extern "C" __global__ void merge(const float* states, const float* outputs, half* O, int D)
{
    const size_t row = blockIdx.x;
    float maximum = -1e30f, sum = 0.0f, o = 0.0f;
    for (int i = 0; i < PARTS; ++i) {
        maximum = fmaxf(maximum, states[2 * (row * PARTS + i)]);
    }
    for (int i = 0; i < PARTS; ++i) {
        const size_t place = row * PARTS + i;
        const float factor = expf(states[2 * place] - maximum);
        sum += factor * states[2 * place + 1];
        o += factor * outputs[place * D + threadIdx.x];
    }
    O[row * D + threadIdx.x] = __float2half(o / sum);
}
