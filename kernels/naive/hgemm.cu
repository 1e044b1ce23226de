// One thread computes one element of C, on the CUDA cores: it fetches a half of A and a half of B,
// turns both into floats, and adds their product to a sum in single precision. Neighbouring threads
// have neighbouring columns, so what each warp fetches from B lies side by side.
//
// What it costs: 2 load requests for 32 multiply-adds, in PTX as in SASS, that of B of only 64
// bytes, 2 sectors of the 4 that a request of whole floats would bring. Halves save memory traffic
// here, not arithmetic: once they are floats, a multiply-add is the one of a product in single
// precision.
//
// The sum is a float. A half has 11 significant bits: from 2048 on it skips every other integer,
// and a sum of a thousand products kept in one is right to two digits.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, BLOCK) * cdiv(N, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

#include <cuda_fp16.h>

// A block of BLOCK × BLOCK threads computes a square of BLOCK × BLOCK elements of C; a warp is one
// row of it.
constexpr int BLOCK = 32;

// C = A · B, all row-major: A is M × K, B is K × N, both half; C is M × N, float.
extern "C" __global__ void hgemm(const half* __restrict__ A, const half* __restrict__ B,
                                 float* __restrict__ C, int M, int N, int K)
{
    const int squares_across = (N + BLOCK - 1) / BLOCK;
    const int row = blockIdx.x / squares_across * BLOCK + threadIdx.y;
    const int column = blockIdx.x % squares_across * BLOCK + threadIdx.x;
    if (row >= M || column >= N) {
        return;
    }

    // The product of two halves has 22 significant bits and is exact in a float, which has 24.
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += __half2float(A[size_t(row) * K + k]) * __half2float(B[size_t(k) * N + column]);
    }
    C[size_t(row) * N + column] = sum;
}
