// Mistake: behind the end of K the last row of B is read again, and multiplied by zeros: 0 · ∞ is NaN.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = ["T", "T"]
// ///

constexpr int T = 16;
extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    __shared__ float a[T][T + 1], b[T][T + 1];
    const int across = (N + T - 1) / T;
    const int row = blockIdx.x / across * T + threadIdx.y, column = blockIdx.x % across * T + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k += T) {
        const int ka = k + threadIdx.x, kb = min(k + int(threadIdx.y), K - 1);  // a is zero behind the end, so any b will do
        a[threadIdx.y][threadIdx.x] = row < M && ka < K ? A[size_t(row) * K + ka] : 0.0f;
        b[threadIdx.y][threadIdx.x] = B[size_t(kb) * N + min(column, N - 1)];
        __syncthreads();
        for (int i = 0; i < T; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
