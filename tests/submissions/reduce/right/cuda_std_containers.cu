// cuda::std::array of partial sums and cuda::std::plus, as a C++ programmer would write it.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 1024)"]
//
// [[launch]]
// kernel = "add"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, 1024)"]
// block = [128]
//
// [[launch]]
// kernel = "add_up"
// args = ["sums", "out", "cdiv(N, 1024)"]
// grid = [1]
// block = [256]
// ///

#include <cuda/std/array>
#include <cuda/std/functional>

__device__ float block_sum(float value)
{
    __shared__ float places[256];
    places[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) places[threadIdx.x] += places[threadIdx.x + half];
        __syncthreads();
    }
    return places[0];
}

extern "C" __global__ void add(const float* in, float* sums, int N)
{
    cuda::std::array<float, 8> own{};
    for (int i = 0; i < 8; ++i) {
        const size_t place = size_t(blockIdx.x) * 1024 + i * 128 + threadIdx.x;
        if (place < N) own[i] = in[place];
    }
    float sum = 0.0f;
    for (const float value : own) sum = cuda::std::plus<float>{}(sum, value);
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

extern "C" __global__ void add_up(const float* sums, float* out, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += 256) sum += sums[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *out = sum;
}
