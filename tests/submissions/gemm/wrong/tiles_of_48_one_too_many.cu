// Mistake: tiles of 48 x 48; the kernel counts N / 48 + 1 of them side by side, the grid cdiv(N, 48): where N is a multiple
// of 48 (and M > 48) tiles are taken for others and the last ones are never computed. The contract: any N.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = [16, 16]
// ///
constexpr int T = 48;
extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B,
                                float* __restrict__ C, int M, int N, int K)
{
    __shared__ float a[T][17], b[16][T];
    const int across = N / T + 1;
    const int top = blockIdx.x / across * T, left = blockIdx.x % across * T;
    float sums[3][3] = {};
    for (int first = 0; first < K; first += 16) {
        for (int i = 0; i < 3; ++i) {
            const int row = top + threadIdx.y + 16 * i, ka = first + threadIdx.x;
            a[threadIdx.y + 16 * i][threadIdx.x] = row < M && ka < K ? A[size_t(row) * K + ka] : 0.0f;
            const int column = left + threadIdx.x + 16 * i, kb = first + threadIdx.y;
            b[threadIdx.y][threadIdx.x + 16 * i] = kb < K && column < N ? B[size_t(kb) * N + column] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) sums[i][j] += a[threadIdx.y + 16 * i][k] * b[k][threadIdx.x + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const int row = top + threadIdx.y + 16 * i, column = left + threadIdx.x + 16 * j;
            if (row < M && column < N) C[size_t(row) * N + column] = sums[i][j];
        }
}
