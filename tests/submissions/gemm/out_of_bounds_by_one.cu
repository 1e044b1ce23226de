// Mistake: <= for <. The kernel that sets C to zero before the product adds to it runs one element
// too far and overwrites whatever lies behind the matrix. The product itself is right.
//
// /// launch
// [[launch]]
// kernel = "clear"
// args = ["C", "M", "N"]
// grid = ["cdiv(M * N, THREADS) + 1"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int THREADS = 256;
constexpr int BLOCK = 16;

extern "C" __global__ void clear(float* C, int M, int N)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i <= M * N) {
        C[i] = 0.0f;
    }
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row < M && column < N) {
        for (int k = 0; k < K; ++k) {
            C[row * N + column] += A[row * K + k] * B[k * N + column];
        }
    }
}
