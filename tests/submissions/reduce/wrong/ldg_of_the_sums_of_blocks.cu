// The last block adds the sums of all by __ldg, the path for what nobody writes while the kernel runs: its cache need not
// see what other blocks have stored. Barrier, fence and ticket are all there.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(2 * SMS, cdiv(N, 256))"]
//
// [[launch]]
// kernel = "sum"
// args = ["in", "sums", "out", "N"]
// grid = ["min(2 * SMS, cdiv(N, 256))"]
// block = [256]
// ///

__device__ unsigned tickets = 0;

__device__ float of_block(float v)
{
    __shared__ float warps[8];
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int i = 0; i < 8; ++i) v += warps[i];
    return v;
}

extern "C" __global__ void sum(const float* in, float* sums, float* out, int N)
{
    __shared__ bool last;
    float own = 0.0f;
    for (size_t i = blockIdx.x * 256 + threadIdx.x; i < size_t(N); i += gridDim.x * 256) own += in[i];
    own = of_block(own);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = own;
        __threadfence();
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    own = 0.0f;
    for (int i = threadIdx.x; i < gridDim.x; i += 256) own += __ldg(&sums[i]);
    own = of_block(own);
    if (threadIdx.x == 0) *out = own;
}
