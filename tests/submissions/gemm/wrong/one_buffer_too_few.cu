// Tiles are fetched two rounds ahead into two buffers: the one that is filled is the one that is
// read.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = ["T", "T"]
// ///

constexpr int T = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[2][T][T], b[2][T][T];
    const int x = threadIdx.x, y = threadIdx.y, across = (N + T - 1) / T;
    const int row = blockIdx.x / across * T + y, column = blockIdx.x % across * T + x;
    float sum = 0.0f;
    for (int first = -2 * T; first < K; first += T) {
        const int ahead = first + 2 * T, turn = ahead / T % 2;
        if (ahead < K) {
            a[turn][y][x] = row < M && ahead + x < K ? A[size_t(row) * K + ahead + x] : 0.0f;
            b[turn][y][x] = ahead + y < K && column < N ? B[size_t(ahead + y) * N + column] : 0.0f;
        }
        if (first >= 0)
            for (int k = 0; k < T; ++k) sum += a[turn][y][k] * b[turn][k][x];
        __syncthreads();
    }
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
