// A block of 32 x 8, y of the grid down the rows: what most people write first.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const size_t column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && column < N) {
        float sum = 0;
        for (int k = 0; k < K; k++) sum += A[row * K + k] * B[size_t(k) * N + column];
        C[row * N + column] = sum;
    }
}
