// Mistake: sums are divided by the number of whole tiles along k, to keep them small, and
// multiplied by it again at the end. Where K is less than a tile, that is sum / 0 * 0, which is not
// a number.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int BLOCK = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row < M && column < N) {
        const float tiles = K / BLOCK;
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += A[row * K + k] * B[k * N + column] / tiles;
        }
        C[row * N + column] = sum * tiles;
    }
}
