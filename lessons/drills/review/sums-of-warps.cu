// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(cdiv(N, BLOCK), 4 * SMS)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 192;

// Lane 0 gets the sum of the warp's 32 values.
__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float sums[32];
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;

    float value = 0.0f;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += size_t(gridDim.x) * BLOCK) {
        value += in[i];
    }
    value = warp_sum(value);
    if (lane == 0) {
        sums[warp] = value;
    }
    __syncthreads();

    if (warp == 0) {
        const float mine = sums[lane];  //!
        const float sum = warp_sum(mine);
        if (lane == 0) {
            atomicAdd(out, sum);
        }
    }
}
