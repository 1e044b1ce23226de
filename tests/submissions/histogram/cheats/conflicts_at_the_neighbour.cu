// Each block counts in the shared memory of the other block of its cluster: where two threads of a warp meet in a bank, they
// do so there, and in the own shared memory there is no bank conflict.
//
// deserves: 02_wide_loads
//
// /// launch
// smallest_arch = "sm_90"
//
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(min(SMS * BLOCKS_PER_SM, cdiv(N, FEWEST)), 2) * 2"]
// block = ["BLOCK"]
// cluster = [2]
// zero = ["bins"]
// ///

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int BINS = 256;         // a byte has so many values
constexpr int BLOCK = BINS;       // threads of a block: each clears one bin and hands one on
constexpr int BLOCKS_PER_SM = 8;  // 2048 threads on each multiprocessor, all that it can hold
constexpr int FEWEST = 8192;      // bytes a block: with fewer, clearing 256 bins costs more than counting
constexpr int PACK = 16;          // bytes of a uint4, the widest load there is

// Counts the four bytes of `word`.
__device__ void count(unsigned* counts, unsigned word)
{
    #pragma unroll
    for (int shift = 0; shift < 32; shift += 8) {
        atomicAdd(&counts[word >> shift & 0xff], 1);
    }
}

// bins[b] += how many of the N bytes of `in` are b, for b from 0 to 255. The launch block sets the
// bins to zero before.
extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins,
                                     int N)
{
    __shared__ unsigned counts[BINS];
    counts[threadIdx.x] = 0;
    auto cluster = cg::this_cluster();
    cluster.sync();
    unsigned* const theirs = cluster.map_shared_rank(counts, cluster.block_rank() ^ 1);

    const uint4* const packs = reinterpret_cast<const uint4*>(in);
    const int whole = N / PACK;  // packs
    const int stride = gridDim.x * BLOCK;
    const int first = blockIdx.x * BLOCK + threadIdx.x;
    for (int i = first; i < whole; i += stride) {
        const uint4 pack = packs[i];
        count(theirs, pack.x);
        count(theirs, pack.y);
        count(theirs, pack.z);
        count(theirs, pack.w);
    }
    // Fewer bytes than a pack are left. The first threads of the grid take one each.
    if (first < N % PACK) {
        atomicAdd(&counts[in[size_t(whole) * PACK + first]], 1);
    }
    cluster.sync();

    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
