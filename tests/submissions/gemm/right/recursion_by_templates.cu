// A dot product of 16 terms that splits itself in two at compile time: a sum by pairs.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

template <int COUNT>
__device__ float dot(const float* a, const float* b, size_t pitch)
{
    if constexpr (COUNT == 1) {
        return *a * *b;
    } else {
        return dot<COUNT / 2>(a, b, pitch) + dot<COUNT - COUNT / 2>(a + COUNT / 2, b + COUNT / 2 * pitch, pitch);
    }
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    int k = 0;
    for (; k + 16 <= K; k += 16) sum += dot<16>(A + size_t(row) * K + k, B + size_t(k) * N + column, N);
    for (; k < K; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    C[size_t(row) * N + column] = sum;
}
