// A cluster of two blocks takes a row, and each reads the other's squares from its shared memory.
//
// /// launch
// smallest_arch = "sm_90"
//
// [[launch]]
// kernel = "rmsnorm"
// grid = ["2 * M"]
// block = [32]
// ///

#include <cooperative_groups.h>
#include <cuda_bf16.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(2, 1, 1)
rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual, const __nv_bfloat16* gamma, __nv_bfloat16* y,
        __nv_bfloat16* sum, int M, int N, float eps)
{
    __shared__ float of_block;
    const cg::cluster_group cluster = cg::this_cluster();
    const int rank = blockIdx.x % 2;
    const size_t start = size_t(blockIdx.x / 2) * N;

    float squares = 0.0f;
    for (int column = rank * 32 + threadIdx.x; column < N; column += 64) {
        const __nv_bfloat16 s = __hadd(x[start + column], residual[start + column]);
        sum[start + column] = s;
        squares += __bfloat162float(s) * __bfloat162float(s);
    }
    for (int d = 16; d > 0; d /= 2) squares += __shfl_xor_sync(~0u, squares, d);
    if (threadIdx.x == 0) of_block = squares;
    cluster.sync();
    const float scale = rsqrtf((squares + *cluster.map_shared_rank(&of_block, 1 - rank)) / N + eps);
    cluster.sync();
    for (int column = rank * 32 + threadIdx.x; column < N; column += 64) {
        const float normal = __bfloat162float(sum[start + column]) * scale;
        y[start + column] = __float2bfloat16(normal * __bfloat162float(gamma[column]));
    }
}
