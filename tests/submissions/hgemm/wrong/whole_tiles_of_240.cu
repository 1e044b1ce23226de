// Mistake: where N is a multiple of 240, columns have no guard, and in that way the guard of rows is gone as well: wrong
// where M is no multiple of 8 (e.g. 3 x 240 x 8): it writes behind C. The contract: any M and N.
//
// /// launch
// [[launch]]
// kernel = "hgemm"
// grid = ["cdiv(M, 8)", "cdiv(N, 240)"]
// block = [16, 8]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void hgemm(const half* __restrict__ A, const half* __restrict__ B,
                                 float* __restrict__ C, int M, int N, int K)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    const bool whole = N % 240 == 0;
    for (int i = 0; i < 15; ++i) {
        const int column = blockIdx.y * 240 + 16 * i + threadIdx.x;
        if (!whole && (row >= M || column >= N)) continue;
        float sum = 0.0f;
        for (int k = 0; k < K; ++k)
            sum += __half2float(A[size_t(row) * K + k]) * __half2float(B[size_t(k) * N + column]);
        C[size_t(row) * N + column] = sum;
    }
}
