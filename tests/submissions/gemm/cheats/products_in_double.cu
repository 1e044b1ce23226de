// A naive product whose multiply-adds are those of doubles, DFMA: claims about FFMA find none.
// Every product is computed twice.
//
// deserves: nothing
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
    double one = 0.0, two = 0.0;
    for (int k = 0; k < K; ++k) {
        const double a = ((const volatile float*)A)[size_t(row) * K + k];
        const double b = ((const volatile float*)B)[size_t(k) * N + column];
        one = fma(a, b, one);
        two = fma(b, a, two + 1e-300);
    }
    C[size_t(row) * N + column] = float(0.5 * (one + two));
}
