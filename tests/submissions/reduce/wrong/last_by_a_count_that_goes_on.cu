// The count of blocks that are done is never put back: whoever draws a number one short of a multiple of the grid adds
// up. So it is in every call of one size; behind a call with another grid, too early a block does.
//
// reason: right once only
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 4096)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "out", "N"]
// grid = ["cdiv(N, 4096)"]
// block = [256]
// ///

__device__ unsigned done = 0;

__device__ float block_sum(float value)
{
    __shared__ float of_warps[8];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < 8; ++warp) sum += of_warps[warp];
    return sum;
}

extern "C" __global__ void reduce(const float* in, float* sums, float* out, int N)
{
    __shared__ bool last;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < 4096; i += 256) {
        const size_t at = size_t(blockIdx.x) * 4096 + i;
        if (at < N) sum += in[at];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&done, 1) % gridDim.x == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    sum = 0.0f;
    for (int i = threadIdx.x; i < gridDim.x; i += 256) sum += __ldcg(sums + i);
    sum = block_sum(sum);
    if (threadIdx.x == 0) *out = sum;
}
