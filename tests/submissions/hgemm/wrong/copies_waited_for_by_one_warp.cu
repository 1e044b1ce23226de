// Each warp copies a part of the tiles, and waits for its own copies alone: there is no barrier of
// the block.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 16) * cdiv(N, 16)"]
// block = [256]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ half a[16][16], b[16][16];
    const int t = threadIdx.x, x = t % 16, y = t / 16, across = (N + 15) / 16;
    const int row = blockIdx.x / across * 16 + y, column = blockIdx.x % across * 16 + x;
    float sum = 0.0f;
    for (int first = 0; first < K; first += 16) {
        a[y][x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : __float2half(0.0f);
        b[y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : __float2half(0.0f);
        __syncwarp();
        for (int k = 0; k < 16; ++k) sum += __half2float(a[y][k]) * __half2float(b[k][x]);
        __syncthreads();
    }
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
