// A thread takes one byte and adds 1 to its bin in global memory. Threads that hold the same byte
// want the same word at the same time, so the addition has to be atomic.
//
// What it costs: 256 words take all N additions, and each addition travels to the L2 cache. It gets
// worse the more bytes are alike: then all threads queue for a few of the words.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and bytes that it counts

// bins[b] += how many of the N bytes of `in` are b, for b from 0 to 255. The launch block sets the
// bins to zero before.
extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins,
                                     int N)
{
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    if (i < N) {
        atomicAdd(&bins[in[i]], 1);
    }
}
