// Lane 0 of each warp leaves its sum in global memory and fences, and thread 0 draws the block's ticket. No barrier stands
// between the other warps' stores and the ticket, so the last block may add sums that are not there yet.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(2 * SMS, cdiv(N, 256))", 8]
//
// [[launch]]
// kernel = "sum"
// args = ["in", "sums", "out", "N"]
// grid = ["min(2 * SMS, cdiv(N, 256))"]
// block = [256]
// ///

__device__ unsigned tickets = 0;

__device__ float of_warp(float v)
{
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    return v;
}

extern "C" __global__ void sum(const float* in, float* sums, float* out, int N)
{
    __shared__ bool last;
    float own = 0.0f;
    for (size_t i = blockIdx.x * 256 + threadIdx.x; i < size_t(N); i += gridDim.x * 256) own += in[i];
    own = of_warp(own);
    if (threadIdx.x % 32 == 0) {
        sums[blockIdx.x * 8 + threadIdx.x / 32] = own;
        __threadfence();
    }
    if (threadIdx.x == 0) last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last || threadIdx.x >= 32) return;
    float all = 0.0f;
    for (int i = threadIdx.x; i < gridDim.x * 8; i += 32) all += __ldcg(&sums[i]);
    all = of_warp(all);
    if (threadIdx.x == 0) *out = all;
}
