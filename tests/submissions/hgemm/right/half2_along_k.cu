// Pairs along k where rows of A are even, multiplied as floats; the odd K goes one by one.
//
// /// launch
// [[launch]]
// kernel = "hgemm<true>"
// when = "K % 2 == 0"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "hgemm<false>"
// when = "K % 2 == 1"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

template <bool EVEN>
__global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    const half* const a = A + size_t(row) * K;
    float sum = 0.0f;
    if constexpr (EVEN) {
        for (int k = 0; k < K; k += 2) {
            const float2 two = __half22float2(*reinterpret_cast<const half2*>(a + k));
            sum = fmaf(two.x, __half2float(B[size_t(k) * N + column]), sum);
            sum = fmaf(two.y, __half2float(B[size_t(k + 1) * N + column]), sum);
        }
    } else {
        for (int k = 0; k < K; ++k) sum = fmaf(__half2float(a[k]), __half2float(B[size_t(k) * N + column]), sum);
    }
    C[size_t(row) * N + column] = sum;
}
