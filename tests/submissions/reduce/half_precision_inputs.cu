// Mistake: numbers are rounded to half precision on the way in. Small integers survive this, others
// lose 13 of their 24 bits.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, BLOCK)"]
//
// [[launch]]
// kernel = "sum_blocks"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "sum_the_rest"
// args = ["sums", "out", "cdiv(N, BLOCK)"]
// grid = [1]
// block = [1]
// ///

constexpr int BLOCK = 256;
#include <cuda_fp16.h>

extern "C" __global__ void sum_blocks(const float* in, float* sums, int N)
{
    __shared__ float places[BLOCK];
    const int t = threadIdx.x;
    const int i = blockIdx.x * BLOCK + t;
    places[t] = i < N ? __half2float(__float2half(in[i])) : 0.0f;
    __syncthreads();
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (t < distance) {
            places[t] += places[t + distance];
        }
        __syncthreads();
    }
    if (t == 0) {
        sums[blockIdx.x] = places[0];
    }
}

extern "C" __global__ void sum_the_rest(const float* sums, float* out, int count)
{
    float sum = 0.0f;
    for (int b = 0; b < count; ++b) {
        sum += sums[b];
    }
    out[0] = sum;
}
