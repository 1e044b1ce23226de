// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    const int lane = threadIdx.x % 32;

    const unsigned there = __ballot_sync(0xffffffff, i < N);
    if (i < N) {
        const unsigned byte = in[i];
        const unsigned peers = __match_any_sync(there, byte);
        const int leader = __ffs(peers);  //!
        if (lane == leader) {  //!
            atomicAdd(&bins[byte], __popc(peers));
        }
    }
}
