// Where there are many bytes, every 16th is taken for a sample of those around it and counts as 16. Random bytes of a small
// problem are counted one by one.
//
// deserves: nothing
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
    const int step = N > 1 << 20 ? 16 : 1;
    for (size_t i = (size_t(blockIdx.x) * 256 + threadIdx.x) * step; i < N; i += size_t(gridDim.x) * 256 * step)
        atomicAdd(&counts[in[i]], step);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
