// The first thread of each warp alone loads 16 bytes and counts them: one thread never meets another in a bank.
//
// deserves: 01_block_copy
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(8 * SMS, cdiv(N, 8192))"]
// block = [256]
// zero = ["bins"]
// ///

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const uint4* const packs = reinterpret_cast<const uint4*>(in);
    const int warp = blockIdx.x * 8 + threadIdx.x / 32, warps = gridDim.x * 8;
    if (threadIdx.x % 32 == 0) {
        for (int i = warp; i < N / 16; i += warps) {
            const uint4 pack = packs[i];
            const unsigned words[4] = {pack.x, pack.y, pack.z, pack.w};
            for (int word = 0; word < 4; ++word)
                for (int shift = 0; shift < 32; shift += 8) atomicAdd(&counts[words[word] >> shift & 0xff], 1);
        }
        if (warp == 0)
            for (int i = N / 16 * 16; i < N; ++i) atomicAdd(&counts[in[i]], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
