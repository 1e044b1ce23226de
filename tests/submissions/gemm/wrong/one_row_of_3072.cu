// A single row of A (M = 1) is copied to shared memory of 3072 floats, whatever K is: it writes beyond it for K > 3072.
// Wrong for M = 1, K = 3500.
//
// /// launch
// [[launch]]
// kernel = "row"
// when = "M == 1"
// args = ["A", "B", "C", "M", "N", "K"]
// grid = ["cdiv(N, 128)"]
// block = [128]
//
// [[launch]]
// kernel = "any"
// when = "M > 1"
// args = ["A", "B", "C", "M", "N", "K"]
// grid = ["cdiv(M, 8)", "min(cdiv(N, 32), 65535)"]
// block = [32, 8]
// ///
extern "C" __global__ void row(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[3072];
    for (int k = threadIdx.x; k < K; k += 128) a[k] = A[k];
    __syncthreads();
    const size_t column = size_t(blockIdx.x) * 128 + threadIdx.x;
    if (column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[k] * B[size_t(k) * N + column];
    C[column] = sum;
}
extern "C" __global__ void any(const float* A, const float* B, float* C, int M, int N, int K)
{
    const size_t row = size_t(blockIdx.x) * 8 + threadIdx.y;
    for (size_t column = size_t(blockIdx.y) * 32 + threadIdx.x; row < M && column < N; column += size_t(gridDim.y) * 32) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[size_t(k) * N + column];
        C[row * N + column] = sum;
    }
}
