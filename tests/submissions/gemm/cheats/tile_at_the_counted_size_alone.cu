// A tile in shared memory where all sides are 512, the naive kernel everywhere else, main size
// included.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "tiles"
// when = "M == 512 and N == 512 and K == 512"
// grid = ["M // 32 * (N // 32)"]
// block = [32, 32]
//
// [[launch]]
// kernel = "gemm"
// when = "M != 512 or N != 512 or K != 512"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
// ///

extern "C" __global__ void tiles(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[32][32], b[32][32];
    const int x = threadIdx.x, y = threadIdx.y, across = N / 32;
    const int row = blockIdx.x / across * 32 + y, column = blockIdx.x % across * 32 + x;
    float sum = 0.0f;
    for (int first = 0; first < K; first += 32) {
        a[y][x] = A[size_t(row) * K + first + x];
        b[y][x] = B[size_t(first + y) * N + column];
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    C[size_t(row) * N + column] = sum;
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 32 + threadIdx.x, column = blockIdx.x % across * 32 + threadIdx.y;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    C[size_t(row) * N + column] = sum;
}
