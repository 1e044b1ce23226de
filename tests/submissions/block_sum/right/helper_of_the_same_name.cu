// A device function has the kernel's name, and other parameters.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["out"]
// ///

__device__ float block_sum(float v)
{
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}

extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    const float v = block_sum(i < N ? in[i] : 0.0f);
    if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
