// Mistake: a second kernel sets A to zero, as the learner's own test program needed before its next
// run. The product is right, but A belongs to the caller.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
//
// [[launch]]
// kernel = "clear"
// args = ["A", "M", "K"]
// grid = ["cdiv(M * K, THREADS)"]
// block = ["THREADS"]
// ///

constexpr int BLOCK = 16;
constexpr int THREADS = 256;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row < M && column < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += A[row * K + k] * B[k * N + column];
        }
        C[row * N + column] = sum;
    }
}

extern "C" __global__ void clear(float* A, int M, int K)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < M * K) {
        A[i] = 0.0f;
    }
}
