// A thread a row, whose sum carries what each addition has rounded away.
//
// /// launch
// [[launch]]
// kernel = "gemv"
// grid = ["cdiv(N, 64)"]
// block = [64]
// ///

#include <cuda_fp16.h>

extern "C" __global__ void gemv(const half* W, const half* x, half* y, int N, int K)
{
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= N) {
        return;
    }
    float sum = 0.0f, lost = 0.0f;
    for (int k = 0; k < K; ++k) {
        const float product = __fmul_rn(__half2float(W[size_t(row) * K + k]), __half2float(x[k]));
        const float term = __fadd_rn(product, -lost);
        const float total = __fadd_rn(sum, term);
        lost = isfinite(total) ? __fadd_rn(__fadd_rn(total, -sum), -term) : 0.0f;
        sum = total;
    }
    y[row] = __float2half(sum);
}
