// No tree, no shuffles: each thread adds two numbers and throws them at one word of shared memory with an atomicAdd, 32
// to the same address. There is next to no shared-memory load to count.
// deserves: 04_unrolled_warp
//
// /// launch
// [[scratch]]
// name = "one"
// dtype = "float32"
// shape = ["cdiv(N, 1024)"]
//
// [[scratch]]
// name = "two"
// dtype = "float32"
// shape = ["cdiv(N, 1048576)"]
//
// [[launch]]
// kernel = "blocks"
// args = ["in", "one", "N"]
// grid = ["cdiv(N, 1024)"]
// block = [512]
//
// [[launch]]
// kernel = "blocks"
// args = ["one", "two", "cdiv(N, 1024)"]
// grid = ["cdiv(N, 1048576)"]
// block = [512]
//
// [[launch]]
// kernel = "blocks"
// args = ["two", "out", "cdiv(N, 1048576)"]
// grid = ["cdiv(N, 1073741824)"]
// block = [512]
// when = "N <= 1073741824"
//
// [[launch]]
// kernel = "rest"
// args = ["two", "out", "cdiv(N, 1048576)"]
// grid = [1]
// block = [1]
// when = "N > 1073741824"
// ///

extern "C" __global__ void blocks(const float* in, float* out, int count)
{
    __shared__ float all;
    if (threadIdx.x == 0) all = 0.0f;
    const size_t i = size_t(blockIdx.x) * 1024 + threadIdx.x;
    const float sum = (i < count ? in[i] : 0.0f) + (i + 512 < count ? in[i + 512] : 0.0f);
    __syncthreads();
    atomicAdd(&all, sum);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = all;
}

extern "C" __global__ void rest(const float* in, float* out, int count)
{
    float sum = 0.0f;
    for (int i = 0; i < count; ++i) sum += in[i];
    *out = sum;
}
