// Loads and stores whole WMMA fragments, also at the edges, where a fragment reaches beyond the matrix.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(N, 16)", "cdiv(M, 16)"]
// block = [32]
// ///

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
        wmma::load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, sum, N, wmma::mem_row_major);
}
