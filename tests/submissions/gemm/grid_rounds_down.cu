// Mistake: the grid is N / 32 by M / 32, rounded down. Rows and columns beyond the last whole tile
// get no block, and a matrix smaller than a tile gets none at all.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["N // TILE", "M // TILE"]
// block = ["TILE", "TILE"]
// ///

constexpr int TILE = 32;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[k * N + column];
    }
    C[row * N + column] = sum;
}
