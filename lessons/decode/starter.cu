// Decoding: attention of one query a sequence over a cache in pages. Your kernel goes here; replace this comment
// by its idea in a sentence.
//
// The block below says how the kernel is launched. Sizes (B, H, KV, T, and GROUP, which is H / KV) and the file's
// constexprs may be used in its expressions, and cdiv(a, b) is a / b rounded up. P is an array of your own, for
// the scores of all queries.
//
// /// launch
// [[scratch]]
// name = "P"
// dtype = "float32"
// shape = ["B", "H", "T"]
//
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "P", "O", "H", "KV", "T", "scale"]
// grid = ["B * H"]
// block = ["D"]
// ///

#include <cuda_fp16.h>

constexpr int D = 128;    // numbers of a query, of a key, and of a row of V; threads of a block
constexpr int PAGE = 16;  // tokens of a page

// One block a query. Q and O are B × H × D. K and V are pages × KV × PAGE × D: H / KV query heads that are
// neighbours share one of the KV heads. Row b of the table has the pages of sequence b, and there are
// (T + 15) / 16 in a row; only the first lengths[b] tokens count.
extern "C" __global__ void decode(const half* Q, const half* K, const half* V, const int* table,
                                  const int* lengths, float* P, half* O, int H, int KV, int T, float scale)
{
    const int sequence = blockIdx.x / H;
    const int shared_head = blockIdx.x % H / (H / KV);
    const int length = lengths[sequence];
    const int* const pages = table + size_t(sequence) * ((T + PAGE - 1) / PAGE);
    const half* const q = Q + size_t(blockIdx.x) * D;
    float* const scores = P + size_t(blockIdx.x) * T;

    // A thread computes the scores of every D-th token.
    for (int token = threadIdx.x; token < length; token += D) {
        // TODO: which page of the cache has this token?
        const size_t page = 0;
        const half* const k = K + ((page * KV + shared_head) * PAGE + token % PAGE) * D;
        float score = 0.0f;
        for (int d = 0; d < D; ++d) {
            score += __half2float(q[d]) * __half2float(k[d]);
        }
        scores[token] = scale * score;
    }
    __syncthreads();

    // Then it has a column of V: the softmax of all scores, and with these weights the sum of its numbers.
    float maximum = -INFINITY;
    for (int token = 0; token < length; ++token) {
        maximum = fmaxf(maximum, scores[token]);
    }
    float total = 0.0f;
    float sum = 0.0f;
    for (int token = 0; token < length; ++token) {
        const size_t page = pages[token / PAGE];
        const half* const v = V + ((page * KV + shared_head) * PAGE + token % PAGE) * D;
        const float weight = expf(scores[token] - maximum);
        total += weight;
        sum += weight * __half2float(v[threadIdx.x]);
    }
    // A sequence without tokens has outputs of 0.
    O[size_t(blockIdx.x) * D + threadIdx.x] = __float2half(length > 0 ? sum / total : 0.0f);
}
