// Each product is computed three times, by multiplications and additions that are no FFMA.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 32 + threadIdx.x, column = blockIdx.x % across * 32 + threadIdx.y;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (volatile int turn = 0; turn < 3; turn = turn + 1) {
        sum = 0.0f;
        for (int k = 0; k < K; ++k)
            sum = __fadd_rn(sum, __fmul_rn(A[size_t(row) * K + k], B[size_t(k) * N + column]));
    }
    C[size_t(row) * N + column] = sum;
}
