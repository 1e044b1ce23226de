// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(cdiv(N, BLOCK), 8 * SMS)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 128;
constexpr int BINS = 256;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[BINS];
    counts[threadIdx.x] = 0;  //!
    __syncthreads();

    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += size_t(gridDim.x) * BLOCK) {
        atomicAdd(&counts[in[i]], 1);  //~
    }
    __syncthreads();

    for (int b = threadIdx.x; b < BINS; b += BLOCK) {
        atomicAdd(&bins[b], counts[b]);  //~
    }
}
