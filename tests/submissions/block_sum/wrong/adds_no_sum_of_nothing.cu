// A block whose sum is 0 saves its addition, by a test for greater or less than 0, which holds for no NaN: one is lost.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["out"]
// ///

__device__ float block_total(float value)
{
    __shared__ float sums[32];
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0.0f;
        for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
    }
    return value;
}

extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    const float sum = block_total(i < N ? in[i] : 0.0f);
    if (threadIdx.x == 0 && (sum > 0.0f || sum < 0.0f)) atomicAdd(out, sum);
}
