// Loads are ld.const with addresses of global memory, which the constant space does not have:
// nothing of it counts.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

__device__ float at(const float* p)
{
    float value;
    asm volatile("ld.const.f32 %0, [%1];" : "=f"(value) : "l"(p));
    return value;
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += at(&A[size_t(row) * K + k]) * at(&B[size_t(k) * N + column]);
    C[size_t(row) * N + column] = sum;
}
