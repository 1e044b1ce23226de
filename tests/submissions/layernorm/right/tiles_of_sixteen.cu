// A tile of 16 threads of cooperative groups takes a row, eight rows a block; a tile without a row goes along with the
// last one.
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["cdiv(M, 8)"]
// block = [128]
// ///

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

extern "C" __global__ void layernorm(const half* x, const half* gamma, const half* beta, half* y, int M, int N,
                                     float eps)
{
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int place = blockIdx.x * 8 + tile.meta_group_rank();
    const size_t start = size_t(min(place, M - 1)) * N;

    float sum = 0.0f;
    for (int column = tile.thread_rank(); column < N; column += 16) sum += __half2float(x[start + column]);
    const float mean = cg::reduce(tile, sum, cg::plus<float>()) / N;

    float squares = 0.0f;
    for (int column = tile.thread_rank(); column < N; column += 16) {
        const float d = __half2float(x[start + column]) - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(cg::reduce(tile, squares, cg::plus<float>()) / N + eps);

    if (place >= M) return;
    for (int column = tile.thread_rank(); column < N; column += 16) {
        const float normal = (__half2float(x[start + column]) - mean) * scale;
        y[start + column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
