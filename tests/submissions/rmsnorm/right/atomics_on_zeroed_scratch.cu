// A thread takes an element, and warps whose elements are all of one row add their squares at once, to a
// scratch array that is zeroed; the others one by one. A second launch divides.
//
// /// launch
// [[scratch]]
// name = "squares"
// dtype = "float32"
// shape = ["M"]
//
// [[launch]]
// kernel = "add"
// args = ["x", "residual", "sum", "squares", "M", "N"]
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// zero = ["squares"]
//
// [[launch]]
// kernel = "normalise"
// args = ["sum", "gamma", "squares", "y", "M", "N", "eps"]
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

#include <cuda_bf16.h>

extern "C" __global__ void add(const __nv_bfloat16* x, const __nv_bfloat16* residual, __nv_bfloat16* sum,
                               float* squares, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    const size_t first = i / 32 * 32;
    float square = 0.0f;
    if (i < size_t(M) * N) {
        sum[i] = __hadd(x[i], residual[i]);
        square = __bfloat162float(sum[i]) * __bfloat162float(sum[i]);
    }
    if (first + 31 < size_t(M) * N && first / N == (first + 31) / N) {
        for (int d = 16; d > 0; d /= 2) square += __shfl_down_sync(~0u, square, d);
        if (i == first) atomicAdd(&squares[i / N], square);
    } else if (i < size_t(M) * N) {
        atomicAdd(&squares[i / N], square);
    }
}

extern "C" __global__ void normalise(const __nv_bfloat16* sum, const __nv_bfloat16* gamma, const float* squares,
                                     __nv_bfloat16* y, int M, int N, float eps)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i >= size_t(M) * N) return;
    const float scale = rsqrtf(squares[i / N] / N + eps);
    y[i] = __float2bfloat16(__bfloat162float(sum[i]) * scale * __bfloat162float(gamma[i % N]));
}
