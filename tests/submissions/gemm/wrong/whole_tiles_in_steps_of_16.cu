// Mistake: whole tiles of 64 x 64 are asked for with K % 8 == 0, and K is gone through in K / 16 steps: where K is an odd
// multiple of 8 the last 8 products are lost. Wrong for 64 x 128 x 24. Contract: any M, N, K.
//
// /// launch
// [[launch]]
// kernel = "whole"
// when = "M % 64 == 0 and N % 64 == 0 and K % 8 == 0 and K >= 16"
// grid = ["N // 64", "M // 64"]
// block = [16, 16]
//
// [[launch]]
// kernel = "gemm"
// when = "M % 64 != 0 or N % 64 != 0 or K % 8 != 0 or K < 16"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///
constexpr int TILE = 16;
constexpr int BK = 16;
extern "C" __global__ void whole(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                 int M, int N, int K)
{
    __shared__ float a[BK][65], b[BK][64];
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
    const size_t row = size_t(blockIdx.y) * 64, column = size_t(blockIdx.x) * 64;
    float sum[4][4] = {};
    for (int step = 0; step < K / BK; ++step) {
        for (int j = thread; j < 64 * BK; j += 256) {
            a[j % BK][j / BK] = A[(row + j / BK) * K + step * BK + j % BK];
            b[j / 64][j % 64] = B[size_t(step * BK + j / 64) * N + column + j % 64];
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c) sum[r][c] += a[k][ty + 16 * r] * b[k][tx + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) C[(row + ty + 16 * r) * N + column + tx + 16 * c] = sum[r][c];
}
extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                int M, int N, int K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < K; first += TILE) {
        const int ka = first + threadIdx.x, kb = first + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < M && ka < K ? A[size_t(row) * K + ka] : 0.0f;
        b[threadIdx.y][threadIdx.x] = kb < K && column < N ? B[size_t(kb) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < min(TILE, K - first); ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && column < N) C[size_t(row) * N + column] = sum;
}
