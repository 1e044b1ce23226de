// Two launches: the first leaves mean and scale of each row in scratch arrays, and in the second a thread takes an
// element.
//
// /// launch
// [[scratch]]
// name = "means"
// dtype = "float32"
// shape = ["M"]
//
// [[scratch]]
// name = "scales"
// dtype = "float32"
// shape = ["M"]
//
// [[launch]]
// kernel = "find_statistics"
// args = ["x", "means", "scales", "M", "N", "eps"]
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "normalise"
// args = ["x", "gamma", "beta", "means", "scales", "y", "M", "N"]
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

#include <cuda_fp16.h>

__device__ float all_of(float value)
{
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
    return value;
}

extern "C" __global__ void find_statistics(const half* x, float* means, float* scales, int M, int N, float eps)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    float sum = 0.0f, squares = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) sum += __half2float(x[size_t(row) * N + column]);
    const float mean = all_of(sum) / N;
    for (int column = threadIdx.x; column < N; column += 32) {
        const float d = __half2float(x[size_t(row) * N + column]) - mean;
        squares += d * d;
    }
    squares = all_of(squares);
    if (threadIdx.x == 0) {
        means[row] = mean;
        scales[row] = rsqrtf(squares / N + eps);
    }
}

extern "C" __global__ void normalise(const half* x, const half* gamma, const half* beta, const float* means,
                                     const float* scales, half* y, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i >= size_t(M) * N) return;
    const int row = i / N, column = i % N;
    const float normal = (__half2float(x[i]) - means[row]) * scales[row];
    y[i] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
}
