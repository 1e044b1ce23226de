// Matrix-vector product of halves: y = W · x. Your kernel goes here; replace this comment by its idea in a
// sentence.
//
// The block below says how the kernel is launched. Sizes (N, K) and the file's constexprs may be used in
// its expressions, and cdiv(a, b) is a / b rounded up, so that the last, partly filled block is launched as
// well.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 128;  // threads of a block, and rows that it computes

// W is N × K, row-major: W[row][k] is W[row * K + k]. x has K elements, y has N. All are halves:
// __half2float(h) makes a float of a half, and __float2half(f) rounds a float to one. One thread a row.
extern "C" __global__ void gemv(const half* W, const half* x, half* y, int N, int K)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;

    // The last block reaches beyond the last row. Its threads out there must not touch memory.
    if (row >= N) {
        return;
    }

    // size_t has 64 bits: a large matrix has more elements than an int can count.
    const half* const weights = W + size_t(row) * K;

    float sum = 0.0f;  // not a half: it could not hold the sum
    // TODO: add up weights[k] * x[k] over all K elements of the row, as floats.

    y[row] = __float2half(sum);
}
