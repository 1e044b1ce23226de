// There is no atomicAdd for a byte.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned char counts[BLOCK];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    if (i < N) {
        atomicAdd(&counts[in[i]], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
