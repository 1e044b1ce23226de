// No tree at all: every thread adds its float4s to one word of shared memory, of which the hardware makes a loop of
// compare-and-swaps, a lane at a time.
//
// deserves: 00_naive
//
// /// launch
// [[scratch]]
// name = "total"
// dtype = "float32"
// shape = [1]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "total", "out", "N"]
// zero = ["total"]
// grid = ["min(SMS * 8, cdiv(N, 1024))"]
// block = [256]
// ///

__device__ unsigned blocks_done = 0;

extern "C" __global__ void reduce(const float* in, float* total, float* out, int N)
{
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    const float4* fours = reinterpret_cast<const float4*>(in);
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N / 4; i += size_t(gridDim.x) * 256) {
        const float4 four = fours[i];
        atomicAdd(&sum, (four.x + four.y) + (four.z + four.w));
    }
    if (blockIdx.x == 0 && threadIdx.x < N % 4) atomicAdd(&sum, in[N / 4 * size_t(4) + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(total, sum);
        __threadfence();
        if (atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1) *out = __ldcg(total);
    }
}
