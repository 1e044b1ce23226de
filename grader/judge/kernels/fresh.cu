// Fills an array with values that it has not held before: words of a pool, each drawn by a hash of its place and a
// seed. What a kernel has kept of earlier inputs at the same addresses is then of no use to it.
//
// /// launch
// [[launch]]
// kernel = "fresh"
// grid = ["min(cdiv(N, BLOCK), BLOCKS)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int BLOCKS = 65536;

// The last steps of MurmurHash3 (A. Appleby): every bit of the result depends on every bit of h.
__device__ unsigned mixed(unsigned h)
{
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    return h ^ h >> 16;
}

// out: N words. pool: START + WINDOW words at least; words are drawn from these WINDOW alone, so that their sum differs
// from START to START.
extern "C" __global__ void fresh(const unsigned* __restrict__ pool, unsigned* __restrict__ out,
                                 unsigned long long N, unsigned START, unsigned WINDOW, unsigned SEED)
{
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += size_t(gridDim.x) * BLOCK) {
        out[i] = pool[START + mixed(unsigned(i) + SEED) % WINDOW];
    }
}
