// Cooperative groups: a tile of 16 threads has a row of a band, cg::reduce adds it up; columns are added by each thread
// over the rows of a band and joined with atomicAdd on zeroed sums.
//
// /// launch
// [[launch]]
// kernel = "rows_of"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, 8)"]
// block = [128]
//
// [[launch]]
// kernel = "columns_of"
// args = ["in", "cols", "M", "N"]
// zero = ["cols"]
// grid = ["cdiv(N, 128)", "min(64, cdiv(M, 32))"]
// block = [128]
// ///

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void rows_of(const float* in, float* rows, int M, int N)
{
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int row = blockIdx.x * 8 + tile.meta_group_rank();
    if (row >= M) return;
    float sum = 0.0f;
    for (int column = tile.thread_rank(); column < N; column += tile.size()) sum += in[size_t(row) * N + column];
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0) rows[row] = sum;
}

extern "C" __global__ void columns_of(const float* in, float* cols, int M, int N)
{
    const auto grid = cg::this_grid();
    const int column = blockIdx.x * 128 + cg::this_thread_block().thread_rank();
    if (column >= N) return;
    float sum = 0.0f;
    for (int row = grid.block_index().y; row < M; row += grid.group_dim().y * 0 + gridDim.y)
        sum += in[size_t(row) * N + column];
    atomicAdd(cols + column, sum);
}
