// Eight halves of B at a time where N is a multiple of four: rows are then aligned to 8 bytes and not to 16. For N of 12
// or 20 every second row is read from an address that a uint4 must not have.
//
// /// launch
// [[launch]]
// kernel = "product"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [4, 32]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void product(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int across = N / 32 + (N % 32 != 0);
    const int row = int(blockIdx.x / across) * 32 + threadIdx.y;
    const int column = int(blockIdx.x % across) * 32 + threadIdx.x * 8;
    if (row >= M || column >= N) return;
    float sum[8] = {};
    const bool wide = N % 4 == 0 && column + 8 <= N;
    for (int k = 0; k < K; ++k) {
        const float a = __half2float(A[size_t(row) * K + k]);
        const half* const b = B + size_t(k) * N + column;
        if (wide) {
            const uint4 eight = *reinterpret_cast<const uint4*>(b);
            const half* const h = reinterpret_cast<const half*>(&eight);
            for (int j = 0; j < 8; ++j) sum[j] += a * __half2float(h[j]);
        } else {
            for (int j = 0; j < 8 && column + j < N; ++j) sum[j] += a * __half2float(b[j]);
        }
    }
    for (int j = 0; j < 8 && column + j < N; ++j) C[size_t(row) * N + column + j] = sum[j];
}
