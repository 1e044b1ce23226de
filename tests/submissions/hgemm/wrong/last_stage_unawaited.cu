// Two stages of cp.async, and before each product "all but the newest have arrived". At the last step nothing newer was
// asked for, so that the newest is the one that is needed.
//
// /// launch
// [[launch]]
// kernel = "product"
// grid = ["cdiv(M, 16) * cdiv(N, 16)"]
// block = [16, 16]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void product(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) half a[2][16][16], b[2][16][16];
    const int across = N / 16 + (N % 16 != 0), x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
    const int top = int(blockIdx.x / across) * 16, left = int(blockIdx.x % across) * 16;
    const auto fetch = [&](int buffer, int first) {
        if (K % 8 == 0 && N % 8 == 0 && t < 64) {
            const int r = t % 32 / 2, c = t % 2 * 8;
            const bool of_a = t < 32;
            const bool inside = of_a ? top + r < M && first + c < K : first + r < K && left + c < N;
            const half* const from = of_a ? &A[inside ? size_t(top + r) * K + first + c : 0]
                                          : &B[inside ? size_t(first + r) * N + left + c : 0];
            const unsigned to = unsigned(__cvta_generic_to_shared(of_a ? &a[buffer][r][c] : &b[buffer][r][c]));
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(inside ? 16 : 0)
                         : "memory");
        } else if (K % 8 || N % 8) {
            a[buffer][y][x] = top + y < M && first + x < K ? A[size_t(top + y) * K + first + x] : half(0.0f);
            b[buffer][y][x] = first + y < K && left + x < N ? B[size_t(first + y) * N + left + x] : half(0.0f);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    float sum = 0.0f;
    const int tiles = (K + 15) / 16;
    fetch(0, 0);
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) fetch((tile + 1) % 2, 16 * (tile + 1));
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += __half2float(a[tile % 2][y][k]) * __half2float(b[tile % 2][k][x]);
        __syncthreads();
    }
    if (top + y < M && left + x < N) C[size_t(top + y) * N + left + x] = sum;
}
