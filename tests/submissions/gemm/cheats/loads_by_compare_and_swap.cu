// Loads are atomicCAS(p, 0, 0), with a warp standing in a column: the naive kernel at its worst.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
// ///

__device__ float at(const float* p) { return __uint_as_float(atomicCAS((unsigned*)p, 0u, 0u)); }

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 32 + threadIdx.x, column = blockIdx.x % across * 32 + threadIdx.y;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += at(&A[size_t(row) * K + k]) * at(&B[size_t(k) * N + column]);
    C[size_t(row) * N + column] = sum;
}
