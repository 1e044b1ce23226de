// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(cdiv(N, BLOCK), 4 * SMS)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float sums[WARPS];
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;

    float value = 0.0f;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += size_t(gridDim.x) * BLOCK) {
        value += in[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);  //!
    }
    if (lane == 31) {  //!
        sums[warp] = value;
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int w = 0; w < WARPS; ++w) {
            sum += sums[w];
        }
        atomicAdd(out, sum);
    }
}
