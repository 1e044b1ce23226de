// 16 bytes a load, and the bytes that are left are counted by the first threads of every block.
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
    const uint4* const packs = reinterpret_cast<const uint4*>(in);
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N / 16; i += gridDim.x * 256) {
        const unsigned words[4] = {packs[i].x, packs[i].y, packs[i].z, packs[i].w};
        for (int word = 0; word < 4; ++word)
            for (int shift = 0; shift < 32; shift += 8) atomicAdd(&bins[words[word] >> shift & 0xff], 1);
    }
    if (threadIdx.x < N % 16) atomicAdd(&bins[in[size_t(N) / 16 * 16 + threadIdx.x]], 1);
}
