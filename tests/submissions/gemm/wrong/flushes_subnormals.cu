// fma.ftz: products below 1.2e-38, of factors of 1e-20 each, become 0.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
// ///

__device__ float fast_fma(float a, float b, float c)
{
    float d;
    asm("fma.rn.ftz.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    return d;
}

extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                int M, int N, int K)
{
    __shared__ float a_tile[32][32];
    __shared__ float b_tile[32][32];
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 32 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int k_start = 0; k_start < K; k_start += 32) {
        const int a_column = k_start + threadIdx.x, b_row = k_start + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < M && a_column < K ? A[size_t(row) * K + a_column] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < K && column < N ? B[size_t(b_row) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum = fast_fma(a_tile[threadIdx.y][k], b_tile[k][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
