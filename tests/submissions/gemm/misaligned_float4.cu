// Mistake: a thread computes four neighbours and reads B as float4s. The end of a row is minded,
// its start is not: where N is not a multiple of 4, rows do not start at multiples of 16 bytes.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(N, 4 * BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int BLOCK = 16;

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = 4 * (blockIdx.x * BLOCK + threadIdx.x);
    if (row >= M || column >= N) {
        return;
    }
    if (column + 4 <= N) {
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int k = 0; k < K; ++k) {
            const float a = A[row * K + k];
            const float4 b = *reinterpret_cast<const float4*>(&B[k * N + column]);
            sum.x += a * b.x;
            sum.y += a * b.y;
            sum.z += a * b.z;
            sum.w += a * b.w;
        }
        C[row * N + column + 0] = sum.x;
        C[row * N + column + 1] = sum.y;
        C[row * N + column + 2] = sum.z;
        C[row * N + column + 3] = sum.w;
        return;
    }
    for (int j = column; j < N; ++j) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += A[row * K + k] * B[k * N + j];
        }
        C[row * N + j] = sum;
    }
}
