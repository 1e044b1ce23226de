// A cluster of two blocks takes a row, a half each, and reads the other's maximum and sum from its shared memory.
//
// /// launch
// smallest_arch = "sm_90"
//
// [[launch]]
// kernel = "softmax"
// grid = ["2 * M"]
// block = [128]
// ///

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ float all_of(float value, bool sum, float* values)
{
    for (int d = 16; d > 0; d /= 2) {
        const float other = __shfl_xor_sync(~0u, value, d);
        value = sum ? value + other : fmaxf(value, other);
    }
    if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = value;
    __syncthreads();
    value = values[0];
    for (int warp = 1; warp < 4; ++warp) value = sum ? value + values[warp] : fmaxf(value, values[warp]);
    return value;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) softmax(const float* in, float* out, int M, int N)
{
    __shared__ float maxima[4], sums[4], pair[2];
    const int half = blockIdx.x % 2;
    const float* const x = in + size_t(blockIdx.x / 2) * N;
    float* const y = out + size_t(blockIdx.x / 2) * N;
    float own = -3.402823466e38f, sum = 0.0f;
    for (int column = half * 128 + threadIdx.x; column < N; column += 256) own = fmaxf(own, x[column]);
    own = all_of(own, false, maxima);
    for (int column = half * 128 + threadIdx.x; column < N; column += 256) sum += expf(x[column] - own);
    sum = all_of(sum, true, sums);
    if (threadIdx.x == 0) { pair[0] = own; pair[1] = sum; }

    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    const float* const others = cluster.map_shared_rank(pair, 1 - half);
    const float maximum = fmaxf(own, others[0]);
    sum = sum * expf(own - maximum) + others[1] * expf(others[0] - maximum);
    cluster.sync();
    for (int column = half * 128 + threadIdx.x; column < N; column += 256) y[column] = expf(x[column] - maximum) / sum;
}
