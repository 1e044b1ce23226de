// Each product is made twice, by a multiplication and an addition each, which no claim on FFMA sees; half is thrown away.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8)", "cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int column = blockIdx.y * 32 + threadIdx.x;
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M || column >= N) {
        return;
    }
    float sum = 0.0f, again = 1.0f;
    for (int k = 0; k < K; ++k) {
        const float a = A[size_t(row) * K + k], b = B[size_t(k) * N + column];
        sum = __fadd_rn(sum, __fmul_rn(a, b));
        again = __fadd_rn(again, __fmul_rn(b, a));
    }
    C[size_t(row) * N + column] = sum + (again == 3e38f ? 1.0f : 0.0f);
}
