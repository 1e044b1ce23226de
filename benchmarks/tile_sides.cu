// A matrix product with shared tiles of 16 × 16 and of 32 × 32, which the model tells further apart than a GPU does.
//
//     nvcc -O3 -arch=sm_90 -o tile_sides benchmarks/tile_sides.cu
//     ncu --clock-control none --metrics gpu__time_duration.sum,l1tex__data_pipe_lsu_wavefronts.sum,\
//     l1tex__data_pipe_lsu_wavefronts.sum.pct_of_peak_sustained_elapsed,\
//     l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum ./tile_sides 4096
//
// On an H200 at 4096: 17.1 ms, and 16.7 ms. Both read shared memory by 3.22 · 10^9 wavefronts, where PTX has
// 4.29 · 10^9 loads: ptxas merges four of a row of A. L1's data are busy for 92 % and 81 % of the time.
#include <cstdio>
#include <cstdlib>

template <int TILE> __global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t row = blockIdx.y * TILE + y;
    const size_t column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (size_t k = 0; k < K; k += TILE) {
        As[y][x] = row < M && k + x < K ? A[row * K + k + x] : 0.0f;
        Bs[y][x] = k + y < K && column < N ? B[(k + y) * N + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += As[y][i] * Bs[i][x];
        __syncthreads();
    }
    if (row < M && column < N)
        C[row * N + column] = sum;
}

int main(int count, char **arguments) {
    const int n = count > 1 ? atoi(arguments[1]) : 4096;
    const size_t bytes = sizeof(float) * n * n;
    float *a, *b, *c;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    gemm<16><<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, b, c, n, n, n);
    gemm<32><<<dim3((n + 31) / 32, (n + 31) / 32), dim3(32, 32)>>>(a, b, c, n, n, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
