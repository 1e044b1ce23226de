// Eight votes tell a warp all bits of its 32 bytes; a lane counts eight of the bins by way of them.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(cdiv(N, 128), SMS * 8)"]
// block = [128]
// zero = ["bins"]
// ///

extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins, int N)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned counts[8] = {};
    for (size_t first = size_t(blockIdx.x) * 128 + threadIdx.x - lane; first < N; first += gridDim.x * 128ull) {
        const bool inside = first + lane < N;
        const unsigned byte = inside ? in[first + lane] : 0;
        unsigned of_lane = __ballot_sync(0xffffffff, inside);
        unsigned low[3];
        for (int bit = 0; bit < 8; ++bit) {
            const unsigned set = __ballot_sync(0xffffffff, byte >> bit & 1);
            if (bit < 3)
                low[bit] = set;
            else
                of_lane &= lane >> (bit - 3) & 1 ? set : ~set;
        }
        for (int i = 0; i < 8; ++i)
            counts[i] += __popc(of_lane & (i & 1 ? low[0] : ~low[0]) & (i & 2 ? low[1] : ~low[1]) &
                                (i & 4 ? low[2] : ~low[2]));
    }
    for (int i = 0; i < 8; ++i)
        if (counts[i])
            atomicAdd(bins + lane * 8 + i, counts[i]);
}
