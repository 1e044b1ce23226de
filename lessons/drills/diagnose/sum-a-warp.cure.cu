// As many blocks as the GPU holds: each thread walks through the array with the stride of the grid, and a
// block adds to the total once.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(SMS * 8, cdiv(N, BLOCK * EACH))"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;
constexpr int EACH = 8;  // numbers a thread, at the least

// out[0] += the sum of the N numbers of `in`.
extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK / 32];

    float sum = 0.0f;
    const long long stride = (long long)gridDim.x * BLOCK;
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x; i < N; i += stride) {
        sum += in[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < BLOCK / 32; ++warp) {
            sum += sums[warp];
        }
        atomicAdd(out, sum);
    }
}
