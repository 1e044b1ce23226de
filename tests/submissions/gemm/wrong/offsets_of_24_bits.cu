// Offsets are formed by __umul24, which takes 24 bits of each factor and gives 32.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const unsigned row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[__umul24(row, K) + k] * B[__umul24(k, N) + column];
    C[__umul24(row, N) + column] = sum;
}
