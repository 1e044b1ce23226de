// A copy of the bins for each lane of a warp, with the 32 copies of a bin beside each other, as in
// `counts[bin][lane]`. All warps of the block share them. Copy number `lane` lies in bank number
// `lane`, whole, so that the 32 threads of a warp never meet in a bank, whatever their bytes are. With
// one copy, 32 random bytes fall into 32 banks at random, and some bank gets three or four of them.
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
constexpr int BIN_BYTES = 4 * LANES;  // of one bin in all copies
constexpr int BLOCK = 512;        // threads of a block: 16 warps share 32 KiB of copies
constexpr int BLOCKS_PER_SM = 4;  // 2048 threads on each multiprocessor, all that it can hold
constexpr int FEWEST = 32768;     // bytes a block: it clears and adds up 8192 counts for them
constexpr int PACK = 16;          // bytes of a uint4, the widest load there is
constexpr int LOADS = 2;          // packs that a thread has under way
constexpr int TILE = LOADS * BLOCK;  // packs that a block takes on one turn

// Counts the four bytes of `word` in a copy, which begins `copy` bytes behind the start of `counts`. A
// bin has 128 bytes with all its copies, so that byte b is counted 128 * b bytes further on. Shifted so
// that it begins at bit 7, b is multiplied by 128 already: two instructions for a place, not four.
__device__ void count(unsigned* counts, unsigned copy, unsigned word)
{
    constexpr unsigned mask = 0xff * BIN_BYTES;
    const unsigned places[] = {word << 7 & mask, word >> 1 & mask, word >> 9 & mask, word >> 17 & mask};
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        atomicAdd(counts + (places[k] | copy) / 4, 1);
    }
}

// Counts the 16 bytes of `pack`.
__device__ void count(unsigned* counts, unsigned copy, uint4 pack)
{
    const unsigned first = pack.x & 0xff;
    const unsigned same = first * 0x01010101;  // four times the first byte
    if (pack.x == same && pack.y == same && pack.z == same && pack.w == same) {
        atomicAdd(counts + (first * BIN_BYTES | copy) / 4, PACK);
        return;
    }
    count(counts, copy, pack.x);
    count(counts, copy, pack.y);
    count(counts, copy, pack.z);
    count(counts, copy, pack.w);
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

    const unsigned copy = 4 * (threadIdx.x % LANES);
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
            count(counts, copy, pack[j]);
        }
    }
    // Fewer packs than a tile are left, and fewer bytes than a pack. The whole grid takes them.
    const int first = blockIdx.x * BLOCK + threadIdx.x;
    for (int i = tiles * TILE + first; i < whole; i += gridDim.x * BLOCK) {
        count(counts, copy, packs[i]);
    }
    if (first < N % PACK) {
        atomicAdd(counts + (in[size_t(whole) * PACK + first] * BIN_BYTES | copy) / 4, 1);
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
