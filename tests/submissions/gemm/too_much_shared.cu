// Mistake: the tiles are too deep. 32 × 1024 floats of A and as many of B are 256 KiB of dynamic
// shared memory; an H200 has 227 KiB for a block, other devices less.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// shared = "2 * TILE * DEPTH * 4"
// ///

constexpr int TILE = 32;
constexpr int DEPTH = 1024;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    extern __shared__ float tiles[];
    float* const a_tile = tiles;                 // TILE rows of A × DEPTH steps of k
    float* const b_tile = tiles + TILE * DEPTH;  // DEPTH steps of k × TILE columns of B
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;

    float sum = 0.0f;
    for (int k_start = 0; k_start < K; k_start += DEPTH) {
        for (int step = 0; step < DEPTH; step += TILE) {
            const int a_k = step + threadIdx.x;
            const int b_k = step + threadIdx.y;
            a_tile[threadIdx.y * DEPTH + a_k] =
                row < M && k_start + a_k < K ? A[row * K + k_start + a_k] : 0.0f;
            b_tile[b_k * TILE + threadIdx.x] =
                column < N && k_start + b_k < K ? B[(k_start + b_k) * N + column] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k) {
            sum += a_tile[threadIdx.y * DEPTH + k] * b_tile[k * TILE + threadIdx.x];
        }
        __syncthreads();
    }
    if (row < M && column < N) {
        C[row * N + column] = sum;
    }
}
