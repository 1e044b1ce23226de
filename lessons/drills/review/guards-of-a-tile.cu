// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, T)", "cdiv(M, T)"]
// block = ["T", "T"]
// ///

constexpr int T = 32;  // side of a tile

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[T][T], b[T][T];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * T + y;
    const int column = blockIdx.x * T + x;

    float sum = 0.0f;
    for (int first = 0; first < K; first += T) {
        a[y][x] = row < M ? A[size_t(row) * K + first + x] : 0.0f;  //!
        b[y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            sum += a[y][k] * b[k][x];
        }
        __syncthreads();
    }
    if (row < M && column < N) {
        C[size_t(row) * N + column] = sum;
    }
}
