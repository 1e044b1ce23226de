// The first block clears the bins, and a barrier is to keep all others from counting before.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;

    if (i < 256) {
        bins[i] = 0;
    }
    __syncthreads();  // wait until the bins are zero

    if (i < N) {
        atomicAdd(&bins[in[i]], 1);
    }
}
