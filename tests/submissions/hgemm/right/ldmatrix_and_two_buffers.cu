// One warp, tiles of 16 × 16 in two buffers: the next is fetched into registers while this one is
// multiplied, read by ldmatrix, and one __syncwarp() a round is enough.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 16) * cdiv(N, 8)"]
// block = [32]
// ///

#include <cuda_fp16.h>

__device__ unsigned address(const half* at) { return unsigned(__cvta_generic_to_shared(at)); }

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) half a[2][16][16], b[2][16][8];
    const int lane = threadIdx.x, across = (N + 7) / 8;
    const int top = blockIdx.x / across * 16, left = blockIdx.x % across * 8;
    const auto fetch = [&](int turn, int first) {
        for (int i = lane; i < 256; i += 32) {
            const int row = top + i / 16, k = first + i % 16;
            a[turn][i / 16][i % 16] = row < M && k < K ? A[size_t(row) * K + k] : __float2half(0.0f);
        }
        for (int i = lane; i < 128; i += 32) {
            const int k = first + i / 8, column = left + i % 8;
            b[turn][i / 8][i % 8] = k < K && column < N ? B[size_t(k) * N + column] : __float2half(0.0f);
        }
    };
    float c[4] = {};
    fetch(0, 0);
    for (int first = 0, turn = 0; first < K; first += 16, turn ^= 1) {
        __syncwarp();
        if (first + 16 < K) fetch(turn ^ 1, first + 16);
        unsigned fa[4], fb[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                     : "r"(address(&a[turn][lane % 16][lane / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(fb[0]), "=r"(fb[1])
                     : "r"(address(&b[turn][lane % 16][0])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                     "{%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    }
    for (int i = 0; i < 4; ++i) {
        const int row = top + lane / 4 + i / 2 * 8, column = left + lane % 4 * 2 + i % 2;
        if (row < M && column < N) C[size_t(row) * N + column] = c[i];
    }
}
