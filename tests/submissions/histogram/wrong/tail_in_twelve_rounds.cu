// Mistake: blocks take 64 KiB each in 16 rounds; the tail of N % 65536 bytes is taken by one more block in at most 12
// rounds. Wrong for N % 65536 > 49152 (N = 60000, 130000). Contract: any N.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["N // TILE + 1"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///
constexpr int BLOCK = 256;
constexpr int TILE = 65536;
extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins, int N)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const size_t first = size_t(blockIdx.x) * TILE;
    const bool whole = blockIdx.x + 1 < gridDim.x;
    for (int round = 0; round < (whole ? 16 : 12); ++round)
        for (int b = 0; b < 16; ++b) {
            const size_t i = first + size_t(round) * 16 * BLOCK + b * BLOCK + threadIdx.x;
            if (i < N) atomicAdd(&counts[in[i]], 1u);
        }
    __syncthreads();
    if (counts[threadIdx.x]) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
