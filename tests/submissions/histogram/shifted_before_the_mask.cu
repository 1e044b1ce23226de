// Bytes of words by masks and shifts: >> is done before &.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(SMS * 8, cdiv(N, FEWEST))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;
constexpr int FEWEST = 8192;

__device__ void count(unsigned* counts, unsigned w)
{
    atomicAdd(&counts[w & 0xff], 1);
    atomicAdd(&counts[w & 0xff00 >> 8], 1);
    atomicAdd(&counts[w & 0xff0000 >> 16], 1);
    atomicAdd(&counts[w & 0xff000000 >> 24], 1);
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();

    const uint4* packs = reinterpret_cast<const uint4*>(in);
    const int whole = N / 16;
    const int first = blockIdx.x * BLOCK + threadIdx.x;
    for (int i = first; i < whole; i += gridDim.x * BLOCK) {
        const uint4 p = packs[i];
        count(counts, p.x);
        count(counts, p.y);
        count(counts, p.z);
        count(counts, p.w);
    }
    if (first < N % 16) {
        atomicAdd(&counts[in[size_t(whole) * 16 + first]], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
