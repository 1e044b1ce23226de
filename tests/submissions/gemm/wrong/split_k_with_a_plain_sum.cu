// Parts of K are added to C by +=, with a fence before and behind: a fence is no lock.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)", 1, 4]
// block = [32, 8]
// zero = ["C"]
// ///

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = blockIdx.z; k < K; k += 4) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    __threadfence();
    ((volatile float*)C)[size_t(row) * N + column] += sum;
    __threadfence();
}
