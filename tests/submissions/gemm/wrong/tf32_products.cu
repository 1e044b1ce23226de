// Operands lose 13 bits of their mantissas, as Tensor Cores take them off in TF32.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

__device__ float cut(float x) { return __uint_as_float(__float_as_uint(x) & 0xffffe000u); }

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += cut(A[size_t(row) * K + k]) * cut(B[size_t(k) * N + column]);
    C[size_t(row) * N + column] = sum;
}
