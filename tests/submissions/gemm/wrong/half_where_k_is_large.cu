// From K = 2000 on, the elements of A pass through FP16.
//
// /// launch
// [[launch]]
// kernel = "gemm<false>"
// when = "K < 2000"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "TILE"]
//
// [[launch]]
// kernel = "gemm<true>"
// when = "K >= 2000"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "TILE"]
// ///

#include <cuda_fp16.h>
constexpr int TILE = 32;

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
template <bool HALF> __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B,
                                float* __restrict__ C, int M, int N, int K)
{
    __shared__ float a_tile[TILE][TILE];  // TILE rows of A × TILE steps of k
    __shared__ float b_tile[TILE][TILE];  // TILE steps of k × TILE columns of B

    const int tiles_across = (N + TILE - 1) / TILE;
    const int row = blockIdx.x / tiles_across * TILE + threadIdx.y;
    const int column = blockIdx.x % tiles_across * TILE + threadIdx.x;

    float sum = 0.0f;
    for (int k_start = 0; k_start < K; k_start += TILE) {
        // Beyond the edge of a matrix the tile is filled with zeros, which add nothing to the sum.
        // A thread whose own output lies beyond the edge still has to help with the loading, and to
        // meet the barrier.
        const int a_column = k_start + threadIdx.x;
        const int b_row = k_start + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] =
            row < M && a_column < K ? (HALF ? __half2float(__float2half(A[size_t(row) * K + a_column])) : A[size_t(row) * K + a_column]) : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] =
            b_row < K && column < N ? B[size_t(b_row) * N + column] : 0.0f;
        __syncthreads();  // both tiles are complete before anybody reads them

        for (int k = 0; k < TILE; ++k) {
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        }
        __syncthreads();  // everybody has read before the next round overwrites the tiles
    }

    if (row < M && column < N) {
        C[size_t(row) * N + column] = sum;
    }
}
