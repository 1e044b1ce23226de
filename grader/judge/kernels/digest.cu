// Adds up two numbers for each word of an array, each a hash of the word and its place: arrays of other
// words have other sums, but for one chance in 2^128. The sums are whole numbers, the same in any order.
//
// /// launch
// [[launch]]
// kernel = "digest"
// grid = ["min(cdiv(N, BLOCK), BLOCKS)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int BLOCKS = 4096;
constexpr int WARP = 32;
constexpr unsigned long long SECOND = 0x9e3779b97f4a7c15;  // tells the second hash from the first

// The last steps of MurmurHash3 (A. Appleby) in 64 bits: every bit of the result depends on every bit of h.
__device__ unsigned long long mixed(unsigned long long h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccd;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53;
    return h ^ h >> 33;
}

__device__ void add_up(unsigned long long sum, unsigned long long* out)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x % WARP == 0) {
        atomicAdd(out, sum);
    }
}

// in: points BEFORE words behind the first of N words. out: two numbers, which the sums are added to.
extern "C" __global__ void __launch_bounds__(BLOCK)
digest(const unsigned* __restrict__ in, unsigned long long* __restrict__ out, unsigned long long N,
       unsigned BEFORE)
{
    unsigned long long sums[2] = {0, 0};
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += size_t(gridDim.x) * BLOCK) {
        const unsigned long long once = mixed((in - BEFORE)[i] ^ mixed(i));
        sums[0] += once;
        sums[1] += mixed(once + SECOND);
    }
    add_up(sums[0], &out[0]);
    add_up(sums[1], &out[1]);
}
