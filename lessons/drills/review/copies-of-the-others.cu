// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, BLOCK)", "min(M, 65535)", "cdiv(M, 65535)"]
// block = ["BLOCK"]
// ///
#include <cuda_pipeline.h>

constexpr int BLOCK = 64;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float piece[BLOCK];
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    const int row = blockIdx.z * 65535 + blockIdx.y;
    if (row >= M) {
        return;
    }

    float sum = 0.0f;
    for (int first = 0; first < K; first += BLOCK) {
        const int here = min(BLOCK, K - first);
        if (threadIdx.x < here) {
            const float* from = A + size_t(row) * K + first + threadIdx.x;
            __pipeline_memcpy_async(&piece[threadIdx.x], from, sizeof(float));
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);  //!
        for (int k = 0; k < here && column < N; ++k) {
            sum += piece[k] * B[size_t(first + k) * N + column];  //~
        }
        __syncthreads();
    }
    if (column < N) {
        C[size_t(row) * N + column] = sum;
    }
}
