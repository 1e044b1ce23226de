// The jump back stands above the head of the loop in the text, and the loop holds barriers. All
// threads of the block go the same way.
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
    float sum = 0.0f;
    int first = 0;
    goto head;
latch:
    __syncthreads();
    first += T;
    if (first >= K) goto out;
head:
    a[y][x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
    b[y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < T; ++k) {
        if (first + k >= K) goto latch;
        sum += a[y][k] * b[k][x];
    }
    goto latch;
out:
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
