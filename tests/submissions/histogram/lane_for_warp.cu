// The remainder counts lanes, and the quotient warps.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, BLOCK * PER)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;
constexpr int PER = 16;
constexpr int WARPS = BLOCK / 32;

// each warp has counts of its own
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[WARPS][256];
    const int warp = threadIdx.x % 32;
    for (int w = 0; w < WARPS; w++)
        counts[w][threadIdx.x] = 0;
    __syncthreads();

    for (int p = 0; p < PER; p++) {
        const int i = (blockIdx.x * PER + p) * BLOCK + threadIdx.x;
        if (i < N)
            atomicAdd(&counts[warp][in[i]], 1u);
    }
    __syncthreads();

    unsigned total = 0;
    for (int w = 0; w < WARPS; w++)
        total += counts[w][threadIdx.x];
    atomicAdd(&bins[threadIdx.x], total);
}
