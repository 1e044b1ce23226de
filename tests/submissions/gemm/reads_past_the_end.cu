// Mistake: whole tiles are loaded, and only the part of them that lies inside is used. The result is
// right, but the loads run past the end of A and B. On a GPU they mostly go unnoticed, until a
// matrix ends where mapped memory ends.
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
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;

    float sum = 0.0f;
    for (int k_start = 0; k_start < K; k_start += TILE) {
        a_tile[threadIdx.y][threadIdx.x] = A[row * K + k_start + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = B[(k_start + threadIdx.y) * N + column];
        __syncthreads();
        for (int k = 0; k < TILE && k_start + k < K; ++k) {
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < M && column < N) {
        C[row * N + column] = sum;
    }
}
