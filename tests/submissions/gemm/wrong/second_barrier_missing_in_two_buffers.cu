// Two buffers and one barrier a round, which would do if it stood before the multiplications; it
// stands behind them, so that a fast warp reads a tile that a slow one still fetches.
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
    const auto fetch = [&](int turn, int first) __attribute__((always_inline)) {
        a[turn][y][x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
        b[turn][y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
    };
    float sum = 0.0f;
    fetch(0, 0);
    for (int first = 0, turn = 0; first < K; first += T, turn ^= 1) {
        if (first + T < K) fetch(turn ^ 1, first + T);
        for (int k = 0; k < T; ++k) sum += a[turn][y][k] * b[turn][k][x];
        __syncthreads();
    }
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
