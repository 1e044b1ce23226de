// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(N, T)", "cdiv(M, T)"]
// block = [32]
// ///
#include <mma.h>

using namespace nvcuda;
constexpr int T = 16;  // side of a fragment

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(32) half a[T][T], b[T][T];
    __shared__ __align__(32) float c[T][T];
    const size_t top = size_t(blockIdx.y) * T;
    const size_t left = size_t(blockIdx.x) * T;

    wmma::fragment<wmma::matrix_a, T, T, T, half, wmma::row_major> a_part;
    wmma::fragment<wmma::matrix_b, T, T, T, half, wmma::col_major> b_part;  //!
    wmma::fragment<wmma::accumulator, T, T, T, float> sum;
    wmma::fill_fragment(sum, 0.0f);

    for (size_t k = 0; k < K; k += T) {
        for (int i = threadIdx.x; i < T * T; i += 32) {
            const int y = i / T;
            const int x = i % T;
            a[y][x] = top + y < M && k + x < K ? A[(top + y) * K + k + x] : half(0.0f);
            b[y][x] = k + y < K && left + x < N ? B[(k + y) * N + left + x] : half(0.0f);
        }
        __syncwarp();
        wmma::load_matrix_sync(a_part, &a[0][0], T);
        wmma::load_matrix_sync(b_part, &b[0][0], T);
        wmma::mma_sync(sum, a_part, b_part, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(&c[0][0], sum, T, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < T * T; i += 32) {
        if (top + i / T < M && left + i % T < N) {
            C[(top + i / T) * N + left + i % T] = c[i / T][i % T];
        }
    }
}
