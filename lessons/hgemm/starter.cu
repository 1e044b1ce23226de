// Matrix product of halves: C = A · B. Your kernel goes here; replace this comment by its idea in a
// sentence.
//
// The block below says how the kernel is launched. Sizes (M, N, K) and the file's constexprs may be
// used in its expressions, and cdiv(a, b) is a / b rounded up, so that the last, partly filled
// block is launched as well.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 16;  // a block has BLOCK × BLOCK threads, one for each element of its square

// A is M × K, B is K × N, C is M × N, all row-major: A[row][k] is A[row * K + k]. A and B are halves,
// C is floats: __half2float(x) makes a float of a half.
extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;

    // The last blocks reach beyond the edge of C. Their threads out there must not touch memory.
    if (row >= M || column >= N) {
        return;
    }

    float sum = 0.0f;  // not a half: it could not hold the sum
    // TODO: add up A[row][k] * B[k][column] over all K steps of k. Form each index as in the last line:
    // size_t has 64 bits, and a large matrix has more elements than an int can count.

    C[size_t(row) * N + column] = sum;
}
