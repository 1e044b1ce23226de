// FP64 Tensor Cores: fragments of 8 × 8 × 4 doubles, staged through shared memory, a warp a block.
//
// lacks: (?i)f64|double|wmma|mma
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 8)"]
// block = [32]
// ///

#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __align__(32) double a[8 * 4], b[4 * 8], c[8 * 8];
    const int lane = threadIdx.x, across = (N + 7) / 8;
    const int top = blockIdx.x / across * 8, left = blockIdx.x % across * 8;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    wmma::fill_fragment(sum, 0.0);
    for (int first = 0; first < K; first += 4) {
        const int row = top + lane / 4, column = left + lane % 8;
        const int k_a = first + lane % 4, k_b = first + lane / 8;
        a[lane] = row < M && k_a < K ? A[size_t(row) * K + k_a] : 0.0;
        b[lane] = k_b < K && column < N ? B[size_t(k_b) * N + column] : 0.0;
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, a, 4);
        wmma::load_matrix_sync(fb, b, 8);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 64; i += 32) {
        const int row = top + i / 8, column = left + i % 8;
        if (row < M && column < N) C[size_t(row) * N + column] = float(c[i]);
    }
}
