// Eight blocks are a cluster: each adds up its part, and the first reads the sums of the others out of their shared
// memory. So there is a number for every eight blocks, which a second launch adds up.
//
// /// launch
// smallest_arch = "sm_90"
//
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 8 * 4096)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["8 * cdiv(N, 8 * 4096)"]
// block = [256]
// cluster = [8]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums", "out", "cdiv(N, 8 * 4096)"]
// grid = [8]
// block = [256]
// cluster = [8]
// ///

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float places[256];
    const auto cluster = cg::this_cluster();
    const int t = threadIdx.x;
    float own = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + t; i < N; i += size_t(gridDim.x) * 256) own += in[i];
    places[t] = own;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) places[t] += places[t + half];
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && t == 0) {
        float sum = 0.0f;
        for (int rank = 0; rank < 8; ++rank) sum += *cluster.map_shared_rank(places, rank);
        out[blockIdx.x / 8] = sum;
    }
    cluster.sync();
}
