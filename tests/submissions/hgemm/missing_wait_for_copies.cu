// Starts cp.async copies and meets a barrier, but never waits for the copies: a barrier does not do that.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(N, 32)", "cdiv(M, 16)"]
// block = [16, 16]
// ///

#include <cuda_fp16.h>

constexpr int BM = 16;
constexpr int BN = 32;  // two columns a thread
constexpr int BK = 32;

// Starts to copy two halves where both lie inside and are aligned, and copies them at once elsewhere.
__device__ void copy_two(half* target, const half* matrix, int row, int column, int rows, int columns)
{
    const half* const source = matrix + row * columns + column;
    if (row < rows && column + 1 < columns && columns % 2 == 0) {
        const unsigned address = __cvta_generic_to_shared(target);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(source) : "memory");
    } else {
        target[0] = row < rows && column < columns ? source[0] : half(0.0f);
        target[1] = row < rows && column + 1 < columns ? source[1] : half(0.0f);
    }
}

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(4) half a_tile[BM][BK];
    __shared__ __align__(4) half b_tile[BK][BN];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * BM + y;
    const int column = blockIdx.x * BN + x * 2;

    float left = 0.0f;
    float right = 0.0f;
    for (int k_start = 0; k_start < K; k_start += BK) {
        copy_two(&a_tile[y][x * 2], A, row, k_start + x * 2, M, K);
        copy_two(&b_tile[y][x * 2], B, k_start + y, column, K, N);
        copy_two(&b_tile[y + 16][x * 2], B, k_start + y + 16, column, K, N);
        asm volatile("cp.async.commit_group;" ::: "memory");
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float a = __half2float(a_tile[y][k]);
            left += a * __half2float(b_tile[k][x * 2]);
            right += a * __half2float(b_tile[k][x * 2 + 1]);
        }
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = left;
    if (row < M && column + 1 < N) C[row * N + column + 1] = right;
}
