// Two launches: the first adds, and leaves the scale of each row in a scratch array; in the second a thread
// takes an element.
//
// /// launch
// [[scratch]]
// name = "scales"
// dtype = "float32"
// shape = ["M"]
//
// [[launch]]
// kernel = "add"
// args = ["x", "residual", "sum", "scales", "M", "N", "eps"]
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "normalise"
// args = ["sum", "gamma", "scales", "y", "M", "N"]
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

#include <cuda_bf16.h>

extern "C" __global__ void add(const __nv_bfloat16* x, const __nv_bfloat16* residual, __nv_bfloat16* sum,
                               float* scales, int M, int N, float eps)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    float squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) {
        const size_t i = size_t(row) * N + column;
        sum[i] = __hadd(x[i], residual[i]);
        squares += __bfloat162float(sum[i]) * __bfloat162float(sum[i]);
    }
    for (int d = 16; d > 0; d /= 2) squares += __shfl_down_sync(~0u, squares, d);
    if (threadIdx.x == 0) scales[row] = rsqrtf(squares / N + eps);
}

extern "C" __global__ void normalise(const __nv_bfloat16* sum, const __nv_bfloat16* gamma, const float* scales,
                                     __nv_bfloat16* y, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i >= size_t(M) * N) return;
    y[i] = __float2bfloat16(__bfloat162float(sum[i]) * scales[i / N] * __bfloat162float(gamma[i % N]));
}
