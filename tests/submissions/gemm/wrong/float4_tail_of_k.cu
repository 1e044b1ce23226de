// A is read in float4s for K / 4 steps, and what K leaves over is forgotten; where K is no
// multiple of 4, rows are misaligned as well, and the launch block sends them to a second kernel
// that forgets the last term alone.
//
// /// launch
// [[launch]]
// kernel = "fours"
// when = "K % 4 == 0"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "rest"
// when = "K % 4 != 0"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void fours(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k += 4) {
        const float4 a = *reinterpret_cast<const float4*>(&A[size_t(row) * K + k]);
        const float* const b = B + size_t(k) * N + column;
        sum += a.x * b[0] + a.y * b[N] + a.z * b[2 * size_t(N)] + a.w * b[3 * size_t(N)];
    }
    C[size_t(row) * N + column] = sum;
}

extern "C" __global__ void rest(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K / 4 * 4; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    C[size_t(row) * N + column] = sum;
}
