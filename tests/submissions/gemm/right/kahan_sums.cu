// Every product is added with the error of the addition before (Kahan): four operations where one
// would do.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f, lost = 0.0f;
    for (int k = 0; k < K; ++k) {
        const float term = fmaf(A[size_t(row) * K + k], B[size_t(k) * N + column], -lost);
        const float next = __fadd_rn(sum, term);
        const float error = __fsub_rn(__fsub_rn(next, sum), term);
        lost = isfinite(error) ? error : 0.0f;  // infinity − infinity is no error of rounding
        sum = next;
    }
    C[size_t(row) * N + column] = sum;
}
