// Blocks in z take a part of K each and add their parts to C, which is zeroed in the launch block.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)", 1, "min(cdiv(K, PART), 64)"]
// block = [32, 8]
// zero = ["C"]
// ///

constexpr int PART = 128;  // steps of k that a block takes at a time

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    for (int first = blockIdx.z * PART; first < K; first += gridDim.z * PART) {
        float sum = 0.0f;
        for (int k = first; k < min(K, first + PART); ++k) {
            sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
        }
        atomicAdd(&C[size_t(row) * N + column], sum);
    }
}
