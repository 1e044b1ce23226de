// No tree: all threads of a block add to one word of shared memory, which lets them in one after the other. There is
// next to no load from shared memory in the source.
//
// deserves: 01_one_adds
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i < N) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
