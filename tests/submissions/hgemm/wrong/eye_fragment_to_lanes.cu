// The sums of a warp go through shared memory, so that lanes can leave out what lies beyond the edges. Nothing orders
// store_matrix_sync before the lanes' reads of what other lanes have stored: a __syncwarp() is missing.
//
// /// launch
// [[launch]]
// kernel = "product"
// grid = ["cdiv(M, 16) * cdiv(N, 16)"]
// block = [32]
// ///

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void product(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(32) half a[256], b[256];
    __shared__ __align__(32) float c[256];
    const int across = N / 16 + (N % 16 != 0);
    const int top = int(blockIdx.x / across) * 16, left = int(blockIdx.x % across) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            const int y = i / 16, x = i % 16;
            a[i] = top + y < M && k + x < K ? A[size_t(top + y) * K + k + x] : __float2half(0.0f);
            b[i] = k + y < K && left + x < N ? B[size_t(k + y) * N + left + x] : __float2half(0.0f);
        }
        __syncwarp();
        wmma::load_matrix_sync(fa, a, 16);
        wmma::load_matrix_sync(fb, b, 16);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
    for (int i = threadIdx.x; i < 256; i += 32)
        if (top + i / 16 < M && left + i % 16 < N) C[size_t(top + i / 16) * N + left + i % 16] = c[i];
}
