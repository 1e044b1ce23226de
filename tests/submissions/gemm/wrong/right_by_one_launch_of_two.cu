// The second launch is to finish rows from 2048 on, and is told so by a `when` that names the
// wrong side.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// args = ["A", "B", "C", "M", "N", "K", "0"]
// grid = ["cdiv(min(M, 2048), 8) * cdiv(N, 32)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "gemm"
// when = "N > 1000000"
// args = ["A", "B", "C", "M", "N", "K", "2048"]
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K, int first)
{
    const int across = (N + 31) / 32;
    const int row = first + blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    C[size_t(row) * N + column] = sum;
}
