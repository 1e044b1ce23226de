// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["M"]
// block = [32]
// ///
#include <cuda_fp16.h>

// Of some elements: how many, their mean, and the sum of (element - mean)².
struct Moments {
    float count, mean, squares;
};

// The moments of one element more.
__device__ Moments with(Moments m, float element)
{
    const float count = m.count + 1.0f;
    const float d = element - m.mean;
    const float mean = m.mean + d / count;
    return {count, mean, m.squares + d * (element - mean)};
}

// The moments of the elements of both.
__device__ Moments merged(Moments a, Moments b)
{
    const float count = a.count + b.count;
    if (count == 0.0f) {
        return a;
    }
    const float d = b.mean - a.mean;
    const float mean = a.mean + d / 2.0f;  //!
    return {count, mean, a.squares + b.squares + d * d * a.count * b.count / count};
}

extern "C" __global__ void layernorm(const half* x, const half* gamma, const half* beta, half* y,
                                     int M, int N, float eps)
{
    const half* const row_x = x + size_t(blockIdx.x) * N;
    half* const row_y = y + size_t(blockIdx.x) * N;

    Moments all = {0.0f, 0.0f, 0.0f};
    for (int column = threadIdx.x; column < N; column += 32) {
        all = with(all, __half2float(row_x[column]));
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        all = merged(all, {__shfl_xor_sync(0xffffffff, all.count, distance),
                           __shfl_xor_sync(0xffffffff, all.mean, distance),
                           __shfl_xor_sync(0xffffffff, all.squares, distance)});
    }
    const float scale = rsqrtf(all.squares / N + eps);

    for (int column = threadIdx.x; column < N; column += 32) {
        const float normal = (__half2float(row_x[column]) - all.mean) * scale;
        row_y[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
