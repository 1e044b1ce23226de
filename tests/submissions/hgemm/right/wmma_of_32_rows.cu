// Fragments of 32 × 8 × 16, staged through shared memory.
//
// lacks: (?i)m32n8k16|wmma
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 32) * cdiv(N, 8)"]
// block = [32]
// ///

#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(32) half a[32 * 16], b[16 * 8];
    __shared__ __align__(32) float c[32 * 8];
    const int lane = threadIdx.x, across = (N + 7) / 8;
    const int top = blockIdx.x / across * 32, left = blockIdx.x % across * 8;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int first = 0; first < K; first += 16) {
        for (int i = lane; i < 512; i += 32) {
            const int row = top + i / 16, k = first + i % 16;
            a[i] = row < M && k < K ? A[size_t(row) * K + k] : __float2half(0.0f);
        }
        for (int i = lane; i < 128; i += 32) {
            const int k = first + i / 8, column = left + i % 8;
            b[i] = k < K && column < N ? B[size_t(k) * N + column] : __float2half(0.0f);
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, a, 16);
        wmma::load_matrix_sync(fb, b, 8);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
        if (top + i / 8 < M && left + i % 8 < N) C[size_t(top + i / 8) * N + left + i % 8] = c[i];
}
