// Sums in double precision, from tiles in shared memory; rounded once, at the end.
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
    __shared__ float a[T][T + 1], b[T][T + 1];
    const int x = threadIdx.x, y = threadIdx.y, across = (N + T - 1) / T;
    const int row = blockIdx.x / across * T + y, column = blockIdx.x % across * T + x;
    double sum = 0.0;
    for (int first = 0; first < K; first += T) {
        a[y][x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
        b[y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += double(a[y][k]) * b[k][x];
        __syncthreads();
    }
    if (row < M && column < N) C[size_t(row) * N + column] = float(sum);
}
