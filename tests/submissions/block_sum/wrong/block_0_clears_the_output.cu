// No `zero`: thread 0 of block 0 clears the output, after other blocks may have added to it.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float sums[256];
    if (blockIdx.x == 0 && threadIdx.x == 0) *out = 0.0f;
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    sums[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}
