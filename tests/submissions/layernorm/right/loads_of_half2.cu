// Two neighbours at a time, as a half2. Where rows are odd, every other one begins in the middle of a half2: its first
// and its last element are taken alone.
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["M"]
// block = [32]
// ///

#include <cuda_fp16.h>

__device__ float all_of(float value)
{
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
    return value;
}

extern "C" __global__ void layernorm(const half* x, const half* gamma, const half* beta, half* y, int M, int N,
                                     float eps)
{
    const half* const row = x + size_t(blockIdx.x) * N;
    const int alone = size_t(blockIdx.x) * N % 2;
    const half2* const pairs = reinterpret_cast<const half2*>(row + alone);
    const int count = (N - alone) / 2;
    const bool first = alone && threadIdx.x == 0, last = (N - alone) % 2 && threadIdx.x == 31;

    float sum = (first ? __half2float(row[0]) : 0.0f) + (last ? __half2float(row[N - 1]) : 0.0f);
    for (int i = threadIdx.x; i < count; i += 32) sum += __low2float(pairs[i]) + __high2float(pairs[i]);
    const float mean = all_of(sum) / N;

    float squares = 0.0f;
    if (first) squares += (__half2float(row[0]) - mean) * (__half2float(row[0]) - mean);
    if (last) squares += (__half2float(row[N - 1]) - mean) * (__half2float(row[N - 1]) - mean);
    for (int i = threadIdx.x; i < count; i += 32) {
        const float a = __low2float(pairs[i]) - mean, b = __high2float(pairs[i]) - mean;
        squares += a * a + b * b;
    }
    const float scale = rsqrtf(all_of(squares) / N + eps);

    half* const out = y + size_t(blockIdx.x) * N;
    const auto of = [=](float element, int column) {
        return (element - mean) * scale * __half2float(gamma[column]) + __half2float(beta[column]);
    };
    if (first) out[0] = __float2half(of(__half2float(row[0]), 0));
    if (last) out[N - 1] = __float2half(of(__half2float(row[N - 1]), N - 1));
    for (int i = threadIdx.x; i < count; i += 32) {
        const int column = alone + 2 * i;
        const float2 two = __half22float2(pairs[i]);
        *reinterpret_cast<half2*>(out + column) = __floats2half2_rn(of(two.x, column), of(two.y, column + 1));
    }
}
