// Tensor Cores multiply 16 rows by x, which stands in one column of a tile whose others are zero. Tiles are staged in
// shared memory, with zeros beyond the edges; sums are floats.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, 16)"]
// block = [32]
// ///

#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

extern "C" __global__ void gemv(const half* W, const half* x, half* y, int N, int K)
{
    __shared__ __align__(32) half rows[16 * 16];
    __shared__ __align__(32) half column[16 * 16];
    __shared__ __align__(32) float found[16 * 16];
    const int first = blockIdx.x * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int i = threadIdx.x; i < 256; i += 32) {
        column[i] = __float2half(0.0f);
    }
    for (int begin = 0; begin < K; begin += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            const int row = first + i / 16, k = begin + i % 16;
            rows[i] = row < N && k < K ? W[size_t(row) * K + k] : __float2half(0.0f);
        }
        if (threadIdx.x < 16) {
            column[threadIdx.x] = begin + threadIdx.x < K ? x[begin + threadIdx.x] : __float2half(0.0f);
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
        wmma::load_matrix_sync(a, rows, 16);
        wmma::load_matrix_sync(b, column, 16);
        wmma::mma_sync(sums, a, b, sums);
        __syncwarp();
    }
    wmma::store_matrix_sync(found, sums, 16, wmma::mem_row_major);
    __syncwarp();
    if (threadIdx.x < 16 && first + threadIdx.x < N) {
        y[first + threadIdx.x] = __float2half(found[threadIdx.x * 16]);
    }
}
