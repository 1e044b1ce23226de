// A single block of 1024 threads goes through all tiles of C, with a shared tile of 32 × 32.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = [1]
// block = [32, 32]
// ///

constexpr int T = 32;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[T][T], b[T][T];
    const int x = threadIdx.x, y = threadIdx.y;
    for (int top = 0; top < M; top += T)
        for (int left = 0; left < N; left += T) {
            const int row = top + y, column = left + x;
            float sum = 0.0f;
            for (int first = 0; first < K; first += T) {
                a[y][x] = row < M && first + x < K ? A[size_t(row) * K + first + x] : 0.0f;
                b[y][x] = first + y < K && column < N ? B[size_t(first + y) * N + column] : 0.0f;
                __syncthreads();
                for (int k = 0; k < T; ++k) sum += a[y][k] * b[k][x];
                __syncthreads();
            }
            if (row < M && column < N) C[size_t(row) * N + column] = sum;
        }
}
