// There are 256 bins, and each of the 128 threads of a block hands on one.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(64, cdiv(N, BLOCK))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 128;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[256];
    for (int b = threadIdx.x; b < 256; b += BLOCK) {
        counts[b] = 0;
    }
    __syncthreads();

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N; i += gridDim.x * BLOCK) {
        atomicAdd(&counts[in[i]], 1);
    }
    __syncthreads();

    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
