// The data are looked at: where all numbers of a column of four are whole and small, __dp4a
// multiplies bytes, and no FFMA is counted; else the formula.
//
// deserves: 01_coalesced
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

__device__ bool small(float x) { return x == rintf(x) && fabsf(x) < 128.0f; }

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    int whole = 0, k = 0;
    for (; k + 4 <= K; k += 4) {
        unsigned a = 0, b = 0;
        bool all = true;
        for (int i = 0; i < 4; ++i) {
            const float of_a = A[size_t(row) * K + k + i], of_b = B[size_t(k + i) * N + column];
            all = all && small(of_a) && small(of_b);
            a |= (int(of_a) & 255) << 8 * i;
            b |= (int(of_b) & 255) << 8 * i;
        }
        if (all) {
            whole = __dp4a(int(a), int(b), whole);
        } else {
            for (int i = 0; i < 4; ++i) sum += A[size_t(row) * K + k + i] * B[size_t(k + i) * N + column];
        }
    }
    for (; k < K; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    C[size_t(row) * N + column] = sum + float(whole);
}
