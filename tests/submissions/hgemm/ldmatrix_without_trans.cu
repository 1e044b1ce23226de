// ldmatrix without .trans for B: mma.sync wants the columns of B, and gets its rows.
//
// /// launch
// [[scratch]]
// name = "A_padded"
// dtype = "float16"
// shape = ["cdiv(M, 16) * 16", "cdiv(K, 16) * 16"]
//
// [[scratch]]
// name = "B_padded"
// dtype = "float16"
// shape = ["cdiv(K, 16) * 16", "cdiv(N, 16) * 16"]
//
// [[scratch]]
// name = "C_padded"
// dtype = "float32"
// shape = ["cdiv(M, 16) * 16", "cdiv(N, 16) * 16"]
//
// [[launch]]
// kernel = "pad"
// args = ["A", "A_padded", "M", "K"]
// grid = ["cdiv(K, 16)", "cdiv(M, 16)"]
// block = [16, 16]
//
// [[launch]]
// kernel = "pad"
// args = ["B", "B_padded", "K", "N"]
// grid = ["cdiv(N, 16)", "cdiv(K, 16)"]
// block = [16, 16]
//
// [[launch]]
// kernel = "hgemm"
// args = ["A_padded", "B_padded", "C_padded", "M", "N", "K"]
// grid = ["cdiv(N, 16)", "cdiv(M, 16)"]
// block = [32]
//
// [[launch]]
// kernel = "crop"
// args = ["C_padded", "C", "M", "N"]
// grid = ["cdiv(N, 16)", "cdiv(M, 16)"]
// block = [16, 16]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void pad(const half* source, half* target, int rows, int columns)
{
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int column = blockIdx.x * 16 + threadIdx.x;
    const bool inside = row < rows && column < columns;
    target[row * gridDim.x * 16 + column] = inside ? source[row * columns + column] : half(0.0f);
}

extern "C" __global__ void crop(const float* source, float* target, int rows, int columns)
{
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int column = blockIdx.x * 16 + threadIdx.x;
    if (row < rows && column < columns) {
        target[row * columns + column] = source[row * gridDim.x * 16 + column];
    }
}

__device__ void load_matrices(unsigned (&to)[4], const half* row)
{
    const unsigned address = __cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address));
}

__device__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) half a_tile[16][16];
    __shared__ __align__(16) half b_tile[16][16];
    const int n_end = (N + 15) / 16 * 16;
    const int k_end = (K + 15) / 16 * 16;
    const int lane = threadIdx.x;
    float left[4] = {};
    float right[4] = {};
    for (int k = 0; k < K; k += 16) {
        for (int i = lane; i < 256; i += 32) {
            a_tile[i / 16][i % 16] = A[(blockIdx.y * 16 + i / 16) * k_end + k + i % 16];
            b_tile[i / 16][i % 16] = B[(k + i / 16) * n_end + blockIdx.x * 16 + i % 16];
        }
        __syncwarp();
        unsigned a[4];
        unsigned b[4];
        load_matrices(a, &a_tile[lane % 16][lane / 16 * 8]);
        load_matrices(b, &b_tile[lane % 16][lane / 16 * 8]);
        multiply_add(left, a, b[0], b[1]);
        multiply_add(right, a, b[2], b[3]);
        __syncwarp();
    }
    float* const c = C + (blockIdx.y * 16 + lane / 4) * n_end + blockIdx.x * 16 + lane % 4 * 2;
    for (int i = 0; i < 2; ++i) {
        c[i] = left[i];
        c[8 + i] = right[i];
        c[8 * n_end + i] = left[2 + i];
        c[8 * n_end + 8 + i] = right[2 + i];
    }
}
