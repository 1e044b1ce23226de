// One warp with WMMA walks over all of C; sizes that are no multiples of 16 go one element a
// thread.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// when = "M % 16 == 0 and N % 16 == 0 and K % 16 == 0"
// grid = [1]
// block = [32]
//
// [[launch]]
// kernel = "edges"
// when = "M % 16 != 0 or N % 16 != 0 or K % 16 != 0"
// grid = [1]
// block = [1024]
// ///

#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    for (int top = 0; top < M; top += 16)
        for (int left = 0; left < N; left += 16) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
            wmma::fill_fragment(sum, 0.0f);
            for (int first = 0; first < K; first += 16) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
                wmma::load_matrix_sync(a, A + size_t(top) * K + first, K);
                wmma::load_matrix_sync(b, B + size_t(first) * N + left, N);
                wmma::mma_sync(sum, a, b, sum);
            }
            wmma::store_matrix_sync(C + size_t(top) * N + left, sum, N, wmma::mem_row_major);
        }
}

extern "C" __global__ void edges(const half* A, const half* B, float* C, int M, int N, int K)
{
    for (size_t i = threadIdx.x; i < size_t(M) * N; i += 1024) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += __half2float(A[i / N * K + k]) * __half2float(B[size_t(k) * N + i % N]);
        C[i] = sum;
    }
}
