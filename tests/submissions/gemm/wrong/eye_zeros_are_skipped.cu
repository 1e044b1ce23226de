// A zero of A is skipped, "it adds nothing": 0 · ∞ and 0 · NaN are NaN, and get lost.
//
// /// launch
// [[launch]]
// kernel = "product"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void product(const float* A, const float* B, float* C, int M, int N, int K)
{
    const unsigned across = (unsigned(N) + 31) / 32;
    const int row = int(blockIdx.x / across) * 8 + threadIdx.y, column = int(blockIdx.x % across) * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        const float a = A[size_t(row) * K + k];
        if (a == 0.0f) continue;
        sum += a * B[size_t(k) * N + column];
    }
    C[size_t(row) * N + column] = sum;
}
