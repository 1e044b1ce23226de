// Lanes store a fragment to shared memory and copy it to C without a __syncwarp() between: each reads what
// other lanes have written.
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
#include <mma.h>

using namespace nvcuda;

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

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int n_end = (N + 15) / 16 * 16;
    const int k_end = (K + 15) / 16 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + blockIdx.y * 16 * k_end + k, k_end);
        wmma::load_matrix_sync(b, B + k * n_end + blockIdx.x * 16, n_end);
        wmma::mma_sync(sum, a, b, sum);
    }
    __shared__ __align__(32) float floats[256];
    wmma::store_matrix_sync(floats, sum, 16, wmma::mem_row_major);
    for (int i = threadIdx.x; i < 256; i += 32) {
        C[(blockIdx.y * 16 + i / 16) * n_end + blockIdx.x * 16 + i % 16] = floats[i];
    }
}
