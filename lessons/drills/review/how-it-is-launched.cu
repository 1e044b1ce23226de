// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 16)", "cdiv(N, 16)"]  //!
// block = [16, 16]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) {
        return;
    }

    const float* a = A + size_t(row) * K;
    const float* b = B + column;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += a[k] * b[size_t(k) * N];
    }
    C[size_t(row) * N + column] = sum;
}
