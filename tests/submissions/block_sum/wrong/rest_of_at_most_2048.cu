// Mistake: a block takes 2560 numbers, five a thread; the last block, whose tile is not full, goes round four times, so
// that numbers are lost where N % 2560 > 2048 (e.g. N = 2100). The contract: any N.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, 2560)"]
// block = [512]
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
    const size_t first = size_t(blockIdx.x) * 2560 + threadIdx.x;
    float sum = 0.0f;
    if (size_t(blockIdx.x) * 2560 + 2560 <= N) {
        #pragma unroll
        for (int i = 0; i < 5; ++i) sum += in[first + i * 512];
    } else {
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (first + i * 512 < N) sum += in[first + i * 512];
        }
    }
    sum = block_total(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
