// Blocks 1 to 3 of a cluster may have ended when block 0 reads their shared memory: nothing keeps them there.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 4096) * 1"]
//
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, 4096) * 4"]
// block = ["BLOCK"]
// args = ["in", "sums", "N"]
// cluster = [4]
//
// [[launch]]
// kernel = "finish"
// grid = [1]
// block = ["BLOCK"]
// args = ["sums", "out", "cdiv(N, 4096)"]
// ///

#include <cooperative_groups.h>
namespace cg = cooperative_groups;
constexpr int BLOCK = 256;

__device__ float block_sum(float v)
{
    __shared__ float sums[32];
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < BLOCK / 32 ? sums[threadIdx.x % 32] : 0.0f;
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}
__device__ float thread_sum(const float* in, int N)
{
    float v = 0;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += size_t(gridDim.x) * BLOCK)
        v += in[i];
    return v;
}

extern "C" __global__ void reduce(const float* __restrict__ in, float* __restrict__ sums, int N)
{
    __shared__ float mine;
    const cg::cluster_group cluster = cg::this_cluster();
    float v = 0;
    for (int j = 0; j < 4; ++j) {
        const size_t i = size_t(blockIdx.x) * 1024 + j * BLOCK + threadIdx.x;
        if (i < N)
            v += in[i];
    }
    v = block_sum(v);
    if (threadIdx.x == 0)
        mine = v;
    cluster.sync(); // all four are there
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        float sum = 0;
        for (int r = 0; r < 4; ++r)
            sum += *cluster.map_shared_rank(&mine, r);
        sums[blockIdx.x / 4] = sum;
    }
}
extern "C" __global__ void finish(const float* __restrict__ sums, float* __restrict__ out, int count)
{
    const float v = block_sum(thread_sum(sums, count));
    if (threadIdx.x == 0)
        *out = v;
}
