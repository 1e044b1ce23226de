// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(cdiv(N, BLOCK), 256)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "out", "N"]
// grid = ["min(cdiv(N, BLOCK), 256)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 128;

__device__ unsigned tickets = 0;

// Thread 0 gets the sum of the block's values.
__device__ float block_sum(float value)
{
    __shared__ float sums[BLOCK / 32];
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

extern "C" __global__ void reduce(const float* in, float* sums, float* out, int N)
{
    __shared__ bool last;
    float value = 0.0f;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += size_t(gridDim.x) * BLOCK) {
        value += in[i];
    }
    value = block_sum(value);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = value;
        __threadfence();
        last = atomicAdd(&tickets, 1) == gridDim.x - 1;  //!
    }
    __syncthreads();
    if (last) {
        float all = 0.0f;
        for (int b = threadIdx.x; b < gridDim.x; b += BLOCK) all += __ldcg(&sums[b]);
        all = block_sum(all);
        if (threadIdx.x == 0) *out = all;  //!
    }
}
