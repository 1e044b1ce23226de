// Products and sums are doubles: no error but the last rounding.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, 8)"]
// block = [32, 8]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void gemv(const half* W, const half* x, half* y, int N, int K)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= N) {
        return;
    }
    double sum = 0.0;
    for (int k = threadIdx.x; k < K; k += 32) {
        sum += double(__half2float(W[size_t(row) * K + k])) * double(__half2float(x[k]));
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x == 0) {
        y[row] = __double2half(sum);
    }
}
