// A block has fewer threads than counts, and each clears one.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 128;
constexpr int BINS = 256;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned local[BINS];
    if (threadIdx.x < BINS) {
        local[threadIdx.x] = 0;
    }
    __syncthreads();

    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) {
        atomicAdd(&local[in[i]], 1u);
    }
    __syncthreads();

    for (int b = threadIdx.x; b < BINS; b += BLOCK) {
        atomicAdd(&bins[b], local[b]);
    }
}
