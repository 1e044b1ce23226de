// Mistake: no edges. The tiled kernel of many a tutorial, which holds where M, N and K are
// multiples of 32; at any other size the last tiles read and write beyond the matrices.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///

constexpr int TILE = 32;

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
        for (int k = 0; k < TILE; ++k) {
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        }
        __syncthreads();
    }
    C[row * N + column] = sum;
}
