// Mistake: where a tile of A (16 x 16) is all zeros it is skipped, unless the tile of B has a NaN; infinities are
// forgotten: 0 times infinity is NaN. Wrong for block-sparse A (16 x 16 zeros) beside an infinity in B. Contract: any
// floats, IEEE products.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 16)", "min(cdiv(N, 16), 65535)"]
// block = [16, 16]
// ///
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[16][16], b[16][17];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const size_t row = size_t(blockIdx.x) * 16 + ty;
    for (size_t first = size_t(blockIdx.y) * 16; first < N; first += size_t(gridDim.y) * 16) {
        const size_t column = first + tx;
        float sum = 0.0f;
        for (int k = 0; k < K; k += 16) {
            const float of_a = row < M && k + tx < K ? A[row * K + k + tx] : 0.0f;
            const float of_b = k + ty < K && column < N ? B[size_t(k + ty) * N + column] : 0.0f;
            const bool needed = of_a != 0.0f || of_b != of_b;
            if (!__syncthreads_or(needed)) continue;
            a[ty][tx] = of_a; b[ty][tx] = of_b;
            __syncthreads();
            for (int i = 0; i < min(16, K - k); ++i) sum += a[ty][i] * b[i][tx];
            __syncthreads();
        }
        if (row < M && column < N) C[row * N + column] = sum;
    }
}
