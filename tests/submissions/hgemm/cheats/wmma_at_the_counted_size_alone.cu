// Tensor Cores where all sides are 512; everywhere else, main size included, the naive kernel.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "wmma_512"
// when = "M == 512 and N == 512 and K == 512"
// grid = [1024]
// block = [32]
//
// [[launch]]
// kernel = "hgemm"
// when = "M != 512 or N != 512 or K != 512"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmma_512(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int top = blockIdx.x / 32 * 16, left = blockIdx.x % 32 * 16;
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

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += __half2float(A[size_t(row) * K + k]) * __half2float(B[size_t(k) * N + column]);
    C[size_t(row) * N + column] = sum;
}
