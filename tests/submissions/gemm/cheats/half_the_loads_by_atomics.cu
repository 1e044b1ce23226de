// Only B is read by atomics of 64 bits, so that the loads of A alone are counted.
//
// deserves: 01_coalesced
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

__device__ float at(const float* p, const float* end)
{
    const bool odd = reinterpret_cast<size_t>(p) & 4;
    if (!odd && p + 1 == end) return *p;
    const float* const pair = odd ? p - 1 : p;
    const unsigned long long two = atomicMax((unsigned long long*)pair, 0ull);
    return __uint_as_float(unsigned(odd ? two >> 32 : two));
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += A[size_t(row) * K + k] * at(&B[size_t(k) * N + column], B + size_t(K) * N);
    C[size_t(row) * N + column] = sum;
}
