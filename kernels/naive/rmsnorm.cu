// One thread takes one row. It adds the residual, writes the sum, and adds up its square; then it goes
// over the row again and writes each element of the sum, divided by the root of the mean square, times
// gamma. There is no mean to be subtracted, and so nothing that could cancel.
//
// BF16 is what is stored: a float without its lower 16 bits. It has the range of a float, and 8
// significant bits, so no sum overflows, but a sum of ones that is kept so stands still at 256. Sums are
// floats. y is the norm of the sum as it is stored, rounded to BF16.
//
// What it costs: the sum is read again, so 10 bytes an element are moved where 8 are needed. Neighbouring
// threads stand in neighbouring rows: a load request touches 32 sectors and uses 2 bytes of each.
//
// /// launch
// [[launch]]
// kernel = "rmsnorm"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_bf16.h>

constexpr int BLOCK = 32;  // threads of a block, and rows that it computes

// sum = x + residual, and y[i] = row i of sum / its root mean square · gamma. All but gamma, which has N
// elements, are M × N, row-major.
extern "C" __global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
                                   const __nv_bfloat16* __restrict__ gamma, __nv_bfloat16* __restrict__ y,
                                   __nv_bfloat16* __restrict__ sum, int M, int N, float eps)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    const size_t start = size_t(row) * N;  // formed in 64 bits

    float squares = 0.0f;
    for (int column = 0; column < N; ++column) {
        const float s = __bfloat162float(x[start + column]) + __bfloat162float(residual[start + column]);
        const __nv_bfloat16 stored = __float2bfloat16(s);
        sum[start + column] = stored;
        squares += __bfloat162float(stored) * __bfloat162float(stored);
    }
    const float scale = rsqrtf(squares / N + eps);

    for (int column = 0; column < N; ++column) {
        const float normal = __bfloat162float(sum[start + column]) * scale;
        y[start + column] = __float2bfloat16(normal * __bfloat162float(gamma[column]));
    }
}
