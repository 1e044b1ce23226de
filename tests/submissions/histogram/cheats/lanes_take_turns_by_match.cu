// One copy of the bins; lanes whose bytes share a bank find each other by matches, and take turns.
//
// deserves: 01_block_copy
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(SMS * BLOCKS_PER_SM, cdiv(N, FEWEST))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BINS = 256;         // a byte has so many values
constexpr int BLOCK = BINS;       // threads of a block: each clears one bin and hands one on
constexpr int BLOCKS_PER_SM = 8;  // 2048 threads on each multiprocessor, all that it can hold
constexpr int FEWEST = 8192;      // bytes a block: with fewer, clearing 256 bins costs more than counting
constexpr int PACK = 16;          // bytes of a uint4, the widest load there is

// Counts the four bytes of `word`.
__device__ void count(unsigned* counts, unsigned word)
{
    const unsigned active = __activemask(), below = (1u << (threadIdx.x & 31)) - 1;
    #pragma unroll
    for (int shift = 0; shift < 32; shift += 8) {
        const unsigned byte = word >> shift & 0xff;
        const unsigned same = __match_any_sync(active, byte);
        const bool leads = !(same & below);
        const unsigned leaders = __ballot_sync(active, leads);
        const unsigned bank = __match_any_sync(active, byte & 31) & leaders;
        const unsigned turn = __popc(bank & below), turns = __reduce_max_sync(active, __popc(bank));
        for (unsigned t = 0; t < turns; ++t)
            if (leads && turn == t) atomicAdd(&counts[byte], __popc(same));
    }
}

// bins[b] += how many of the N bytes of `in` are b, for b from 0 to 255. The launch block sets the
// bins to zero before.
extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins,
                                     int N)
{
    __shared__ unsigned counts[BINS];
    counts[threadIdx.x] = 0;
    __syncthreads();  // all bins are clear

    const uint4* const packs = reinterpret_cast<const uint4*>(in);
    const int whole = N / PACK;  // packs
    const int stride = gridDim.x * BLOCK;
    const int first = blockIdx.x * BLOCK + threadIdx.x;
    for (int i = first; i < whole; i += stride) {
        const uint4 pack = packs[i];
        count(counts, pack.x);
        count(counts, pack.y);
        count(counts, pack.z);
        count(counts, pack.w);
    }
    // Fewer bytes than a pack are left. The first threads of the grid take one each.
    if (first < N % PACK) {
        atomicAdd(&counts[in[size_t(whole) * PACK + first]], 1);
    }
    __syncthreads();  // all bytes are counted

    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
