// Blocks wait for those of lower number, and nothing says that these run first: where later ones fill the device
// it hangs. A ticket is missing.
//
// /// launch
// [[scratch]]
// name = "prefix"
// dtype = "float32"
// shape = ["cdiv(N, BLOCK * 8)"]
//
// [[scratch]]
// name = "ready"
// dtype = "uint32"
// shape = ["cdiv(N, BLOCK * 8)"]
//
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK * 8)"]
// block = ["BLOCK"]
// args = ["in", "out", "prefix", "ready", "N"]
// zero = ["ready"]
// ///

constexpr int BLOCK = 256;

__device__ float sum_of_block(float v)
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

// Sums are added in the order of blocks: each waits for the one before it.
extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, volatile float* prefix,
                                     volatile unsigned* ready, int N)
{
    float v = 0;
    for (int j = 0; j < 8; ++j) {
        const size_t i = size_t(blockIdx.x) * BLOCK * 8 + j * BLOCK + threadIdx.x;
        if (i < N)
            v += in[i];
    }
    v = sum_of_block(v);
    if (threadIdx.x == 0) {
        if (blockIdx.x > 0) {
            while (ready[blockIdx.x - 1] == 0) {
            }
            __threadfence();
            v += prefix[blockIdx.x - 1];
        }
        if (blockIdx.x == gridDim.x - 1)
            *out = v;
        prefix[blockIdx.x] = v;
        __threadfence();
        ready[blockIdx.x] = 1;
    }
}
