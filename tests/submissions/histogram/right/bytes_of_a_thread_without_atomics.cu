// 256 counters of 8 bits for each thread of a warp, in words of its own bank: no atomics in shared memory at all. A thread
// takes 240 bytes, fewer than a counter holds.
//
// deserves: 01_block_copy
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 32 * 240)"]
// block = [32]
// zero = ["bins"]
// ///

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[64 * 32];  // byte b % 4 of word b / 4 of each lane
    for (int i = threadIdx.x; i < 64 * 32; i += 32) counts[i] = 0;
    __syncwarp();
    unsigned char* const own = reinterpret_cast<unsigned char*>(counts + threadIdx.x);
    for (int j = 0; j < 240; ++j) {
        const size_t i = size_t(blockIdx.x) * 32 * 240 + j * 32 + threadIdx.x;
        if (i < N) ++own[in[i] / 4 * 128 + in[i] % 4];
    }
    __syncwarp();
    for (int word = threadIdx.x; word < 64; word += 32) {
        unsigned sums[4] = {};
        for (int c = 0; c < 32; ++c) {
            const unsigned four = counts[32 * word + (word + c) % 32];
            for (int k = 0; k < 4; ++k) sums[k] += four >> 8 * k & 0xff;
        }
        for (int k = 0; k < 4; ++k)
            if (sums[k]) atomicAdd(&bins[4 * word + k], sums[k]);
    }
}
