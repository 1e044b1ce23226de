// Whole fragments are stored where the first row and column are inside: rows beyond the edge are
// those of the memory behind C.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 16) * cdiv(N, 16)"]
// block = [32]
// ///

#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(32) half a[256], b[256];
    const int lane = threadIdx.x, across = (N + 15) / 16;
    const int top = blockIdx.x / across * 16, left = blockIdx.x % across * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int first = 0; first < K; first += 16) {
        for (int i = lane; i < 256; i += 32) {
            const int y = i / 16, x = i % 16;
            a[i] = top + y < M && first + x < K ? A[size_t(top + y) * K + first + x] : __float2half(0.0f);
            b[i] = first + y < K && left + x < N ? B[size_t(first + y) * N + left + x] : __float2half(0.0f);
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, a, 16);
        wmma::load_matrix_sync(fb, b, 16);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    if (N % 8 == 0) wmma::store_matrix_sync(C + size_t(top) * N + left, sum, N, wmma::mem_row_major);
}
