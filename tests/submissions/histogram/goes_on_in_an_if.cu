// An `if` where the grid needs a loop.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(256, cdiv(N, BLOCK))"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned hist[256];
    hist[threadIdx.x] = 0;
    __syncthreads();

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = blockDim.x * gridDim.x;
    if (i < N) {
        atomicAdd(&hist[in[i]], 1);
        i += stride;
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], hist[threadIdx.x]);
}
