// Each thread keeps a piece of A in local memory, at indices the compiler does not know. Local
// memory is global memory that belongs to a thread.
//
// deserves: 02_shared_tile
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int lane = threadIdx.x, across = (N + 31) / 32;
    const int top = blockIdx.x / across * 32, column = blockIdx.x % across * 32 + lane;
    float sum[32], a[32];
    for (int i = 0; i < 32; ++i) sum[(i + K) % 32] = 0.0f;
    for (int first = 0; first < K; first += 32) {
        for (int i = 0; i < 32; ++i)
            a[(i + K) % 32] = top + i < M && first + lane < K ? A[size_t(top + i) * K + first + lane] : 0.0f;
        for (int k = 0; k < min(32, K - first); ++k) {
            const float b = column < N ? B[size_t(first + k) * N + column] : 0.0f;
#pragma unroll 1
            for (int i = 0; i < 32; ++i) sum[(i + K) % 32] += __shfl_sync(~0u, a[(i + K) % 32], k) * b;
        }
    }
    for (int i = 0; i < 32; ++i)
        if (top + i < M && column < N) C[size_t(top + i) * N + column] = sum[(i + K) % 32];
}
