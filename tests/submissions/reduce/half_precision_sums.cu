// Mistake: the tree adds in half precision, which has 11 bits: above 2048 not even whole numbers
// are exact.
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
    __shared__ __half places[BLOCK];
    const int t = threadIdx.x;
    const int i = blockIdx.x * BLOCK + t;
    places[t] = __float2half(i < N ? in[i] : 0.0f);
    __syncthreads();
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (t < distance) {
            places[t] = __hadd(places[t], places[t + distance]);
        }
        __syncthreads();
    }
    if (t == 0) {
        sums[blockIdx.x] = __half2float(places[0]);
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
