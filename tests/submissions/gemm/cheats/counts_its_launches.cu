// A counter in device memory survives from launch to launch: the cases are computed as they should
// be, and what comes after the fiftieth launch, the counted run, reads by atomics.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
//
// [[launch]]
// kernel = "count"
// args = ["M"]
// grid = [1]
// block = [1]
// ///

__device__ unsigned launches;

extern "C" __global__ void count(int) { ++launches; }

__device__ float at(const float* p, bool hidden)
{
    return hidden ? __uint_as_float(atomicOr((unsigned*)p, 0u)) : *p;
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 32 + threadIdx.x, column = blockIdx.x % across * 32 + threadIdx.y;
    if (row >= M || column >= N) return;
    const bool hidden = launches >= 50;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += at(&A[size_t(row) * K + k], hidden) * at(&B[size_t(k) * N + column], hidden);
    C[size_t(row) * N + column] = sum;
}
