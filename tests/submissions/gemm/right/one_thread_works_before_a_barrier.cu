// Thread 0 fills a table of row offsets in a loop of its own; the others wait for it at the
// barrier.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, ROWS) * cdiv(N, COLUMNS)"]
// block = ["COLUMNS", "ROWS"]
// ///

constexpr int ROWS = 8, COLUMNS = 32;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ size_t offset[ROWS];
    const int across = (N + COLUMNS - 1) / COLUMNS;
    const int row = blockIdx.x / across * ROWS + threadIdx.y;
    const int column = blockIdx.x % across * COLUMNS + threadIdx.x;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        for (int i = 0; i < ROWS; ++i) offset[i] = size_t(min(row + i, M - 1)) * K;
    }
    __syncthreads();
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[offset[threadIdx.y] + k] * B[size_t(k) * N + column];
    C[size_t(row) * N + column] = sum;
}
