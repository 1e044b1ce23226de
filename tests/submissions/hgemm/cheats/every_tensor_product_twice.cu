// Each fragment product is made twice, into two sums whose mean is stored.
//
// deserves: 01_half2
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// when = "M % 16 == 0 and N % 16 == 0 and K % 16 == 0"
// grid = ["M // 16 * (N // 16)"]
// block = [32]
//
// [[launch]]
// kernel = "edges"
// when = "M % 16 != 0 or N % 16 != 0 or K % 16 != 0"
// grid = ["cdiv(M * N, 128)"]
// block = [128]
// ///

#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int top = blockIdx.x / (N / 16) * 16, left = blockIdx.x % (N / 16) * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> one, two;
    wmma::fill_fragment(one, 0.0f);
    wmma::fill_fragment(two, 0.0f);
    for (int first = 0; first < K; first += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::load_matrix_sync(a, A + size_t(top) * K + first, K);
        wmma::load_matrix_sync(b, B + size_t(first) * N + left, N);
        wmma::mma_sync(one, a, b, one);
        wmma::mma_sync(two, a, b, two);
    }
    for (int i = 0; i < one.num_elements; ++i) one.x[i] = 0.5f * one.x[i] + 0.5f * two.x[i];
    wmma::store_matrix_sync(C + size_t(top) * N + left, one, N, wmma::mem_row_major);
}

extern "C" __global__ void edges(const half* A, const half* B, float* C, int M, int N, int K)
{
    const size_t i = size_t(blockIdx.x) * 128 + threadIdx.x;
    if (i >= size_t(M) * N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += __half2float(A[i / N * K + k]) * __half2float(B[size_t(k) * N + i % N]);
    C[i] = sum;
}
