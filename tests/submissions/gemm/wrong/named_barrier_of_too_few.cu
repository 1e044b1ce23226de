// The consumers wait at a barrier of 256 threads that is 512 threads' business: half of the
// producers' arrivals open it.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = [512]
// ///

constexpr int T = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[T][T], b[T][T];
    const int across = (N + T - 1) / T, t = threadIdx.x % 256, x = t % T, y = t / T;
    const int row = blockIdx.x / across * T + y, column = blockIdx.x % across * T + x;
    float sum = 0.0f;
    for (int first = 0; first < K; first += T) {
        if (threadIdx.x >= 256) {
            a[y][x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
            b[y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
        }
        asm volatile("bar.sync 1, 256;" ::: "memory");
        if (threadIdx.x < 256)
            for (int k = 0; k < T; ++k) sum += a[y][k] * b[k][x];
        asm volatile("bar.sync 2, 256;" ::: "memory");
    }
    if (threadIdx.x < 256 && row < M && column < N) C[size_t(row) * N + column] = sum;
}
