// A block of 32 × 4 × 8 threads: x is a column, y a row, z an eighth of K; the eighths meet in
// shared memory.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 4) * cdiv(N, 32)"]
// block = [32, 4, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float parts[8][4][32];
    const int across = (N + 31) / 32, x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const int row = blockIdx.x / across * 4 + y, column = blockIdx.x % across * 32 + x;
    const bool inside = row < M && column < N;
    float sum = 0.0f;
    if (inside)
        for (int k = z; k < K; k += 8) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    parts[z][y][x] = sum;
    __syncthreads();
    if (z != 0 || !inside) return;
    for (int other = 1; other < 8; ++other) sum += parts[other][y][x];
    C[size_t(row) * N + column] = sum;
}
