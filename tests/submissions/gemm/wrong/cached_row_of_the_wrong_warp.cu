// Warps keep their row of A in shared memory and synchronise among themselves; two warps share a
// place.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float rows[4][32];
    const int lane = threadIdx.x, across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + lane;
    float* const own = rows[threadIdx.y % 4];
    float sum = 0.0f;
    for (int first = 0; first < K; first += 32) {
        own[lane] = row < M && first + lane < K ? A[size_t(row) * K + first + lane] : 0.0f;
        __syncwarp();
        for (int k = 0; column < N && k < min(32, K - first); ++k) sum += own[k] * B[size_t(first + k) * N + column];
        __syncwarp();
    }
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
