// Numbers that are not finite are left out: the sum of a NaN or an infinity is finite.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(SMS * 8, cdiv(N, BLOCK * 8))"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK];
    float sum = 0.0f;
    const size_t stride = size_t(gridDim.x) * BLOCK;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += stride) {
        if (fabsf(in[i]) < 3.0e38f) sum += in[i];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();

    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}
