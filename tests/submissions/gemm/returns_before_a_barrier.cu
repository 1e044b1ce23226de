// Mistake: threads beyond the matrix return at once, as they do in the naive kernel. Here they were
// to fill their part of the tiles, and to reach the barriers.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///

constexpr int TILE = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const size_t row = blockIdx.y * TILE + threadIdx.y;
    const size_t column = blockIdx.x * TILE + threadIdx.x;
    if (row >= M || column >= N) {
        return;
    }

    float sum = 0.0f;
    for (int k_start = 0; k_start < K; k_start += TILE) {
        const size_t a_column = k_start + threadIdx.x;
        const size_t b_row = k_start + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < M && a_column < K ? A[row * K + a_column] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < K && column < N ? B[b_row * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        }
        __syncthreads();
    }
    C[row * N + column] = sum;
}
