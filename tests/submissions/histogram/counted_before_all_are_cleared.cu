// A private histogram in shared memory for each block.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(SMS * 8, cdiv(N, 8192))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;

    const size_t stride = size_t(gridDim.x) * BLOCK;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += stride) {
        atomicAdd(&counts[in[i]], 1);
    }
    __syncthreads();  // all are counted

    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
