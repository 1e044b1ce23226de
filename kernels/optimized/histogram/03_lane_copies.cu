// A copy of the bins for each lane of a warp: 32 copies, which all warps of the block share. Copy
// number `lane` lies in bank number `lane`, whole, so that the 32 threads of a warp never meet in a
// bank, whatever their bytes are. With one copy, 32 random bytes fall into 32 banks at random, and
// some bank gets three or four of them.
//
// What it should buy: one wavefront for 32 bytes, always. Bytes that are all alike are as fast as
// random ones.
//
// Threads of different warps can still queue for a word, and do so most where all bytes are alike. So
// a thread looks at its 16 bytes first: if they are equal, it adds 16 at once.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(SMS * BLOCKS_PER_SM, cdiv(N, FEWEST))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BINS = 256;         // a byte has so many values
constexpr int LANES = 32;         // threads of a warp, banks of shared memory, and copies
constexpr int BLOCK = 512;        // threads of a block: 16 warps share 32 KiB of copies
constexpr int BLOCKS_PER_SM = 4;  // 2048 threads on each multiprocessor, all that it can hold
constexpr int FEWEST = 32768;     // bytes a block: it clears and adds up 8192 counts for them
constexpr int PACK = 16;          // bytes of a uint4, the widest load there is
constexpr int LOADS = 2;          // packs that a thread has under way
constexpr int TILE = LOADS * BLOCK;  // packs that a block takes on one turn

// Counts the four bytes of `word` in the copy that begins at `copy`.
__device__ void count(unsigned* copy, unsigned word)
{
    #pragma unroll
    for (int shift = 0; shift < 32; shift += 8) {
        atomicAdd(&copy[(word >> shift & 0xff) * LANES], 1);
    }
}

// Counts the 16 bytes of `pack`.
__device__ void count(unsigned* copy, uint4 pack)
{
    const unsigned first = pack.x & 0xff;
    const unsigned same = first * 0x01010101;  // four times the first byte
    if (pack.x == same && pack.y == same && pack.z == same && pack.w == same) {
        atomicAdd(&copy[first * LANES], PACK);
        return;
    }
    count(copy, pack.x);
    count(copy, pack.y);
    count(copy, pack.z);
    count(copy, pack.w);
}

// bins[b] += how many of the N bytes of `in` are b, for b from 0 to 255. The launch block sets the
// bins to zero before.
extern "C" __global__ void __launch_bounds__(BLOCK)
histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins, int N)
{
    __shared__ unsigned counts[BINS * LANES];  // bin b of copy c is counts[b * LANES + c]
    for (int i = threadIdx.x; i < BINS * LANES; i += BLOCK) {
        counts[i] = 0;
    }
    __syncthreads();  // all copies are clear

    unsigned* const copy = counts + threadIdx.x % LANES;
    const uint4* const packs = reinterpret_cast<const uint4*>(in);
    const int whole = N / PACK;  // packs
    const int tiles = whole / TILE;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        uint4 pack[LOADS];
        #pragma unroll
        for (int j = 0; j < LOADS; ++j) {  // all loads first, so that none waits for another
            pack[j] = packs[tile * TILE + j * BLOCK + threadIdx.x];
        }
        #pragma unroll
        for (int j = 0; j < LOADS; ++j) {
            count(copy, pack[j]);
        }
    }
    // Fewer packs than a tile are left, and fewer bytes than a pack. The whole grid takes them.
    const int first = blockIdx.x * BLOCK + threadIdx.x;
    for (int i = tiles * TILE + first; i < whole; i += gridDim.x * BLOCK) {
        count(copy, packs[i]);
    }
    if (first < N % PACK) {
        atomicAdd(&copy[in[size_t(whole) * PACK + first] * LANES], 1);
    }
    __syncthreads();  // all bytes are counted

    // A thread adds up the 32 copies of one bin. Neighbours have neighbouring bins, whose copies c are
    // all in bank c: so each begins at another copy.
    if (threadIdx.x < BINS) {
        unsigned sum = 0;
        for (int c = 0; c < LANES; ++c) {
            sum += counts[threadIdx.x * LANES + (threadIdx.x + c) % LANES];
        }
        atomicAdd(&bins[threadIdx.x], sum);
    }
}
