// A cluster of two blocks takes a row, a half each, and reads the other's sum and squares from its shared memory.
//
// /// launch
// smallest_arch = "sm_90"
//
// [[launch]]
// kernel = "layernorm"
// grid = ["2 * M"]
// block = [128]
// ///

#include <cooperative_groups.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

__device__ float all_of(float value, float* values)
{
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
    if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = value;
    __syncthreads();
    return values[0] + values[1] + values[2] + values[3];
}

extern "C" __global__ void __cluster_dims__(2, 1, 1)
layernorm(const half* x, const half* gamma, const half* beta, half* y, int M, int N, float eps)
{
    __shared__ float sums[4], squares[4], of_block[2];
    const cg::cluster_group cluster = cg::this_cluster();
    const int rank = blockIdx.x % 2;
    const half* const row = x + size_t(blockIdx.x / 2) * N;
    half* const out = y + size_t(blockIdx.x / 2) * N;
    const float* const others = cluster.map_shared_rank(of_block, 1 - rank);

    float own = 0.0f;
    for (int column = rank * 128 + threadIdx.x; column < N; column += 256) own += __half2float(row[column]);
    own = all_of(own, sums);
    if (threadIdx.x == 0) of_block[0] = own;
    cluster.sync();
    const float mean = (own + others[0]) / N;

    own = 0.0f;
    for (int column = rank * 128 + threadIdx.x; column < N; column += 256) {
        const float d = __half2float(row[column]) - mean;
        own += d * d;
    }
    own = all_of(own, squares);
    if (threadIdx.x == 0) of_block[1] = own;
    cluster.sync();
    const float scale = rsqrtf((own + others[1]) / N + eps);
    cluster.sync();
    for (int column = rank * 128 + threadIdx.x; column < N; column += 256) {
        const float normal = (__half2float(row[column]) - mean) * scale;
        out[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
