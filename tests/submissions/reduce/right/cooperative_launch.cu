// A cooperative launch: no more blocks than the device holds at a time, which meet at the barrier of the grid. Then the
// first block adds up their sums.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["SMS"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "out", "N"]
// grid = ["min(SMS, cdiv(N, 256))"]
// block = [256]
// cooperative = true
// ///

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// The sum of what every thread of the block has, in thread 0.
__device__ float sum_of_block(float own)
{
    __shared__ float places[256];
    places[threadIdx.x] = own;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) places[threadIdx.x] += places[threadIdx.x + half];
    }
    return places[0];
}

extern "C" __global__ void reduce(const float* in, float* sums, float* out, int N)
{
    float own = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) own += in[i];
    const float sum = sum_of_block(own);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    cg::this_grid().sync();
    if (blockIdx.x == 0) {
        float rest = 0.0f;
        for (int block = threadIdx.x; block < gridDim.x; block += 256) rest += sums[block];
        __syncthreads();
        const float total = sum_of_block(rest);
        if (threadIdx.x == 0) *out = total;
    }
}
