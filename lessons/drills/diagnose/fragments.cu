// A block of four warps computes 64 × 64 outputs on Tensor Cores
// from tiles in shared memory; a warp has 32 × 32 of them.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, SIDE) * cdiv(N, SIDE)"]
// block = ["THREADS"]
// ///

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int SIDE = 64;  // rows and columns of C a block, and steps
                          // of k between two barriers
constexpr int THREADS = 128;
constexpr int ROW =
    SIDE;              // halves from one row of a tile to the next
constexpr int T = 16;  // side of a fragment

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
extern "C" __global__ void hgemm(const half* __restrict__ A,
                                 const half* __restrict__ B,
                                 float* __restrict__ C, int M, int N,
                                 int K)
{
    __shared__ __align__(32) half a[SIDE][ROW];
    __shared__ __align__(32) half b[SIDE][ROW];
    __shared__ __align__(32) float c[SIDE][SIDE + 4];

    const int across = (N + SIDE - 1) / SIDE;
    const int top = blockIdx.x / across * SIDE;
    const int left = blockIdx.x % across * SIDE;
    const int y = threadIdx.x / 64 * 32,
              x = threadIdx.x / 32 % 2 * 32;  // this warp's outputs

    wmma::fragment<wmma::accumulator, T, T, T, float> sum[2][2];
    for (int i = 0; i < 4; ++i) {
        wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    }
    for (int start = 0; start < K; start += SIDE) {
        #pragma unroll 8
        for (int i = threadIdx.x; i < SIDE * SIDE; i += THREADS) {
            const int r = i / SIDE, q = i % SIDE;
            a[r][q] = top + r < M && start + q < K
                          ? A[size_t(top + r) * K + start + q]
                          : half(0.0f);
            b[r][q] = start + r < K && left + q < N
                          ? B[size_t(start + r) * N + left + q]
                          : half(0.0f);
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < SIDE; k += T) {
            wmma::fragment<wmma::matrix_a, T, T, T, half,
                           wmma::row_major>
                above[2];
            wmma::fragment<wmma::matrix_b, T, T, T, half,
                           wmma::row_major>
                beside[2];
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(above[i], &a[y + i * T][k],
                                       ROW);
                wmma::load_matrix_sync(beside[i], &b[k][x + i * T],
                                       ROW);
            }
            for (int i = 0; i < 4; ++i) {
                wmma::mma_sync(sum[i / 2][i % 2], above[i / 2],
                               beside[i % 2], sum[i / 2][i % 2]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        wmma::store_matrix_sync(&c[y + i / 2 * T][x + i % 2 * T],
                                sum[i / 2][i % 2], SIDE + 4,
                                wmma::mem_row_major);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SIDE * SIDE; i += THREADS) {
        const int r = i / SIDE, q = i % SIDE;
        if (top + r < M && left + q < N) {
            C[size_t(top + r) * N + left + q] = c[r][q];
        }
    }
}
