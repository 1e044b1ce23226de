// Mistake: behind the end of K the columns of A keep what the step before has left, which is multiplied by zeros.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 16) * cdiv(N, 16)"]
// block = [32]
// ///

#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
// A warp a tile of 16 x 16. Behind the end of K only B is set to zero: what A has there is multiplied by 0.
extern "C" __global__ void hgemm(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    __shared__ __align__(32) half a[16][16], b[16][16];
    __shared__ __align__(32) float c[16][16];
    const int across = (N + 15) / 16, lane = threadIdx.x;
    const int row0 = blockIdx.x / across * 16, col0 = blockIdx.x % across * 16;
    for (int i = lane; i < 256; i += 32) a[i / 16][i % 16] = __float2half(0.0f);
    __syncwarp();
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        for (int i = lane; i < 256; i += 32) {
            const int r = i / 16, s = i % 16;
            if (k + s < K && row0 + r < M) a[r][s] = A[size_t(row0 + r) * K + k + s];
            b[r][s] = k + r < K && col0 + s < N ? B[size_t(k + r) * N + col0 + s] : __float2half(0.0f);
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, &a[0][0], 16);
        wmma::load_matrix_sync(fb, &b[0][0], 16);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(&c[0][0], sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
        if (row0 + i / 16 < M && col0 + i % 16 < N) C[size_t(row0 + i / 16) * N + col0 + i % 16] = c[i / 16][i % 16];
}
