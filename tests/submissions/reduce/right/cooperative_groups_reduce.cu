// cg::reduce() over tiles of a warp, and over the warps' sums in the first one.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(4 * SMS, cdiv(N, 512))"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["min(4 * SMS, cdiv(N, 512))"]
// block = [512]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums", "out", "min(4 * SMS, cdiv(N, 512))"]
// grid = [1]
// block = [512]
// ///

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float sums[16];
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 512 + block.thread_rank(); i < N; i += size_t(gridDim.x) * 512)
        sum += in[i];
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() != 0) return;
    sum = warp.thread_rank() < 16 ? sums[warp.thread_rank()] : 0.0f;
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0) out[blockIdx.x] = sum;
}
