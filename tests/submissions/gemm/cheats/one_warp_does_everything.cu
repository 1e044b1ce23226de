// A single warp computes the whole product, 32 × 32 outputs at a time: whatever is counted for
// each product is fine, and 131 multiprocessors stand still.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = [1]
// block = [32]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int lane = threadIdx.x;
    for (int top = 0; top < M; top += 32)
        for (int left = 0; left < N; left += 32) {
            const int column = left + lane;
            float sum[32] = {}, a[32];
            for (int first = 0; first < K; first += 32) {
#pragma unroll
                for (int i = 0; i < 32; ++i)
                    a[i] = top + i < M && first + lane < K ? A[size_t(top + i) * K + first + lane] : 0.0f;
                for (int k = 0; k < min(32, K - first); ++k) {
                    const float b = column < N ? B[size_t(first + k) * N + column] : 0.0f;
#pragma unroll
                    for (int i = 0; i < 32; ++i) sum[i] += __shfl_sync(~0u, a[i], k) * b;
                }
            }
#pragma unroll
            for (int i = 0; i < 32; ++i)
                if (top + i < M && column < N) C[size_t(top + i) * N + column] = sum[i];
        }
}
