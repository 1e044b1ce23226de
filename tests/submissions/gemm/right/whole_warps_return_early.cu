// Warps whose row of C lies beyond the edge return before the first barrier: a barrier waits for
// the threads that have not exited. Those that stay fetch the rows of the tile of B for the
// others.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = ["T", "T"]
// ///

constexpr int T = 32;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[T][T], b[T][T];
    const int x = threadIdx.x, y = threadIdx.y, across = (N + T - 1) / T;
    const int top = blockIdx.x / across * T;
    const int row = top + y, column = blockIdx.x % across * T + x;
    if (row >= M) return;
    const int alive = min(T, M - top);  // warps of this block that are still here

    float sum = 0.0f;
    for (int first = 0; first < K; first += T) {
        a[y][x] = first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
        for (int k = y; k < T; k += alive)
            b[k][x] = first + k < K && column < N ? B[size_t(first + k) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (column < N) C[size_t(row) * N + column] = sum;
}
