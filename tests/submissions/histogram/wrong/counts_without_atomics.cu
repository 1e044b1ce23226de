// A private copy, and then ++ in it: private to a block is not private to a thread.
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
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) ++counts[in[i]];
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
