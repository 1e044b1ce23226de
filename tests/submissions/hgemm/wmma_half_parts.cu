// Tensor Cores with an accumulator of halves, emptied into floats after every fragment of k: less is lost,
// but each fragment's 16 products are still summed in half.
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
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> part;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    __shared__ __align__(32) half halves[256];
    __shared__ __align__(32) float floats[256];
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + blockIdx.y * 16 * k_end + k, k_end);
        wmma::load_matrix_sync(b, B + k * n_end + blockIdx.x * 16, n_end);
        wmma::fill_fragment(part, 0.0f);
        wmma::mma_sync(part, a, b, part);
        wmma::store_matrix_sync(halves, part, 16, wmma::mem_row_major);
        __syncwarp();
        for (int i = threadIdx.x; i < 256; i += 32) {
            floats[i] = __half2float(halves[i]);
        }
        __syncwarp();
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> more;
        wmma::load_matrix_sync(more, floats, 16, wmma::mem_row_major);
        for (int i = 0; i < sum.num_elements; ++i) {
            sum.x[i] += more.x[i];
        }
        __syncwarp();
    }
    wmma::store_matrix_sync(C + blockIdx.y * 16 * n_end + blockIdx.x * 16, sum, n_end, wmma::mem_row_major);
}
