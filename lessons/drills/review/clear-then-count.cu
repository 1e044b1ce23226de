// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(cdiv(N, 16 * BINS), 4 * SMS)"]
// block = ["BINS"]
// zero = ["bins"]
// ///

constexpr int BINS = 256;  // and threads of a block

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[BINS];
    const size_t stride = size_t(gridDim.x) * BINS;

    counts[threadIdx.x] = 0;  //!
    for (size_t i = size_t(blockIdx.x) * BINS + threadIdx.x; i < N; i += stride) {
        atomicAdd(&counts[in[i]], 1);  //~
    }
    __syncthreads();

    if (counts[threadIdx.x] > 0) {
        atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
    }
}
