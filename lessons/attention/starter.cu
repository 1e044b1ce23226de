// Attention: O = softmax(scale · Q · Kᵀ) · V for each head. Your kernels go here; replace this comment by
// their idea in a sentence.
//
// The block below says how the kernels are launched. Sizes (B, H, S, D, and HEADS, which is B · H) and the
// file's constexprs may be used in its expressions, and cdiv(a, b) is a / b rounded up. P is an array of your
// own, for the scores of all queries with all keys.
//
// /// launch
// [[scratch]]
// name = "P"
// dtype = "float32"
// shape = ["HEADS", "S", "S"]
//
// [[launch]]
// kernel = "scores"
// args = ["Q", "K", "P", "S", "D", "scale", "causal"]
// grid = ["HEADS * cdiv(S, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "outputs"
// args = ["P", "V", "O", "S", "D"]
// grid = ["HEADS * cdiv(S, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 32;  // threads of a block, and queries that it has

// All four arrays are B × H × S × D, row-major: a head has S rows of D halves, one behind the other. One
// thread a query: it fills its row of P with scores. A key behind the query does not count where causal is
// not 0: its score is -∞.
extern "C" __global__ void scores(const half* Q, const half* K, float* P, int S, int D, float scale,
                                  int causal)
{
    const int blocks = (S + BLOCK - 1) / BLOCK;  // of a head
    const size_t head = blockIdx.x / blocks;
    const int query = blockIdx.x % blocks * BLOCK + threadIdx.x;

    // The last block of a head reaches beyond its last query. Its threads out there must not touch memory.
    if (query >= S) {
        return;
    }

    // size_t has 64 bits: large arrays have more elements than an int can count.
    const half* const q = Q + (head * S + query) * D;
    float* const row = P + (head * S + query) * S;

    for (int key = 0; key < S; ++key) {
        const half* const k = K + (head * S + key) * D;
        // TODO: the score is scale times the sum of q[d] * k[d] over all D numbers, as floats:
        // __half2float(h) makes a float of a half.
        const float score = 0.0f;
        row[key] = causal && key > query ? -INFINITY : score;
    }
}

// One thread a query: the softmax of its row of P, and with these weights the sum of the rows of V.
extern "C" __global__ void outputs(const float* P, const half* V, half* O, int S, int D)
{
    const int blocks = (S + BLOCK - 1) / BLOCK;
    const size_t head = blockIdx.x / blocks;
    const int query = blockIdx.x % blocks * BLOCK + threadIdx.x;
    if (query >= S) {
        return;
    }
    const float* const row = P + (head * S + query) * S;
    float maximum = row[0];
    for (int key = 1; key < S; ++key) {
        maximum = fmaxf(maximum, row[key]);
    }
    float sum = 0.0f;
    for (int key = 0; key < S; ++key) {
        sum += expf(row[key] - maximum);
    }
    for (int d = 0; d < D; ++d) {
        float o = 0.0f;
        for (int key = 0; key < S; ++key) {
            o += expf(row[key] - maximum) * __half2float(V[(head * S + key) * D + d]);
        }
        O[(head * S + query) * D + d] = __float2half(o / sum);
    }
}
