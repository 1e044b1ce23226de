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
    if (row >= M || column >= N) {
        return;
    }
    const half* a_row = A + size_t(row) * K;

    half2 sum = __float2half2_rn(0.0f);  //!
    for (int k = 0; k + 1 < K; k += 2) {
        const half2 a = __halves2half2(a_row[k], a_row[k + 1]);
        const half2 b = __halves2half2(B[size_t(k) * N + column], B[size_t(k + 1) * N + column]);
        sum = __hfma2(a, b, sum);  //!
    }
    float total = __low2float(sum) + __high2float(sum);
    if (K % 2 == 1) {
        total += __half2float(a_row[K - 1]) * __half2float(B[size_t(K - 1) * N + column]);
    }
    C[size_t(row) * N + column] = total;
}
