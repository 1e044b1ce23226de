// The accumulators of a thread are a local array that nobody has set to zero.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 128)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 127) / 128;
    const int row = blockIdx.x / across * 8 + threadIdx.y, left = blockIdx.x % across * 128 + threadIdx.x;
    if (row >= M) return;
    float sum[4];
    for (int k = 0; k < K; ++k)
        for (int i = 0; i < 4; ++i)
            if (left + 32 * i < N) sum[i] += A[size_t(row) * K + k] * B[size_t(k) * N + left + 32 * i];
    for (int i = 0; i < 4; ++i)
        if (left + 32 * i < N) C[size_t(row) * N + left + 32 * i] = sum[i];
}
