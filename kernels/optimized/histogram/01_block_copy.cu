// Each block counts 8192 bytes or more in a copy of the bins that it has for itself, in shared
// memory, and adds its 256 counts to the output at the end. Such a copy is called private, and the
// idea privatisation.
//
// What it should buy: an atomic on shared memory stays on the multiprocessor. Only 256 additions a
// block go to the L2 cache, and so that these are few, there are as many blocks as the GPU can hold
// and no more: each thread walks through the bytes with the stride of the grid.
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

// bins[b] += how many of the N bytes of `in` are b, for b from 0 to 255. The launch block sets the
// bins to zero before.
extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins,
                                     int N)
{
    __shared__ unsigned counts[BINS];
    counts[threadIdx.x] = 0;
    __syncthreads();  // all bins are clear

    const size_t stride = size_t(gridDim.x) * BLOCK;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += stride) {
        atomicAdd(&counts[in[i]], 1);
    }
    __syncthreads();  // all bytes are counted

    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
