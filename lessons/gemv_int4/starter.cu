// Matrix-vector product with weights of 4 bits: y = W · x. Your kernel goes here; replace this comment by its idea
// in a sentence.
//
// The block below says how the kernel is launched. Sizes (N, K), the groups of a row (G) and the file's constexprs
// may be used in its expressions, and cdiv(a, b) is a / b rounded up, so that the last, partly filled block is
// launched as well.
//
// /// launch
// [[launch]]
// kernel = "gemv_int4"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 128;    // threads of a block, and rows that it computes
constexpr int IN_WORD = 8;    // weights of 4 bits in a word
constexpr int GROUP = 128;    // weights that share a scale: K is a multiple of it

// A row of W has K / IN_WORD words. Element k has the four bits from 4 * (k % 8) on of word k / 8. They are a number
// q from 0 to 15, which stands for q - 8. A row of scales has one for each group. The weight is scale * (q - 8).
// __half2float(h) makes a float of a half, and __float2half(f) rounds a float to one. One thread a row.
extern "C" __global__ void gemv_int4(const unsigned* W, const half* scales, const half* x, half* y, int N, int K)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;

    // The last block reaches beyond the last row. Its threads out there must not touch memory.
    if (row >= N) {
        return;
    }

    // size_t has 64 bits: a large matrix has more words than an int can count.
    const unsigned* const words = W + size_t(row) * (K / IN_WORD);
    const half* const of_groups = scales + size_t(row) * (K / GROUP);

    float sum = 0.0f;
    for (int group = 0; group < K / GROUP; ++group) {
        float of_group = 0.0f;  // of (q - 8) * x
        for (int k = group * GROUP; k < (group + 1) * GROUP; k += IN_WORD) {
            const unsigned word = words[k / IN_WORD];
            // TODO: add (q - 8) * x to of_group, for each of the word's eight q. They go with x[k] to x[k + 7].
        }
        sum += __half2float(of_groups[group]) * of_group;
    }
    y[row] = __float2half(sum);
}
