// Tiles of 32 × 32 lie in the registers of a warp and go round by shuffles, one for each multiply-
// add: claims about shared memory find none. A number of B does serve 32 multiply-adds from a
// register.
//
// deserves: 03_register_tile_1d
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
