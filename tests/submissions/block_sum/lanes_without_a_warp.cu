// All lanes of the first warp read the sums of warps, of which there are fewer.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(cdiv(N, BLOCK), GRID)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;
constexpr int GRID = 64;
constexpr int WARPS = BLOCK / 32;

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float sums[WARPS];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    float sum = 0.0f;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) {
        sum += in[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (lane == 0) {
        sums[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = sums[lane];
        for (int offset = WARPS / 2; offset > 0; offset /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, offset);
        }
        if (lane == 0) {
            atomicAdd(out, sum);
        }
    }
}
