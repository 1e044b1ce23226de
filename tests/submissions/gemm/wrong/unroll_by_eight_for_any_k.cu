// The loop over k takes eight steps at a time, and the guard inside is on the first of them alone.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    const size_t last_a = size_t(M) * K - 1, last_b = size_t(K) * N - 1;
    float sum = 0.0f;
    for (int k = 0; k < K; k += 8)
        for (int i = 0; i < 8; ++i)
            sum += A[min(size_t(row) * K + k + i, last_a)] * B[min(size_t(k + i) * N + column, last_b)];
    C[size_t(row) * N + column] = sum;
}
