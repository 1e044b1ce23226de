// The barrier between clearing the bins and counting in them is missing.
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
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256)
        atomicAdd(&counts[in[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
