// Adds multiples of 2^-32 in 64 bits: numbers below 2^-33 vanish, sums beyond 2^31 wrap.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(SMS * 8, cdiv(N, BLOCK * 8))"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

__device__ long long fixed(float x) { return __float2ll_rn(x * 4294967296.0f); }

extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ long long sums[BLOCK];
    long long sum = 0;  // whole numbers: the same result in every order
    const size_t stride = size_t(gridDim.x) * BLOCK;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += stride) sum += fixed(in[i]);
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, float(sums[0]) / 4294967296.0f);
}
