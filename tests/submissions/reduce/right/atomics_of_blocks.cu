// Shuffles, shared memory, and one atomic a block on an output that the launch block zeroes.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(8 * SMS, cdiv(N, 1024))"]
// block = [256]
// zero = ["out"]
// ///

__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
    return value;
}

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float sums[8];
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = warp_sum(threadIdx.x < 8 ? sums[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
