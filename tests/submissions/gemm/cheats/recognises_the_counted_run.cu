// A variable on the device counts launches; after some of them nothing is computed, but a value of an earlier run kept.
// Modules are loaded afresh for each case: it is the honest 01_coalesced.
//
// deserves: 01_coalesced
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8)", "cdiv(N, 32)"]
// block = [32, 8]
// ///

__device__ int launches = 0;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int column = blockIdx.y * 32 + threadIdx.x;
    const int row = blockIdx.x * 8 + threadIdx.y;
    const bool counted = atomicAdd(&launches, blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y == 0) > 30;
    if (row >= M || column >= N || counted) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    }
    C[size_t(row) * N + column] = sum;
}
