// The block's counts are each thread's own, on which no atomic function works.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["bins"]
// ///
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    unsigned counts[256];
    const int i = blockIdx.x * 256 + threadIdx.x;

    counts[threadIdx.x] = 0;
    __syncthreads();
    if (i < N) atomicAdd(&counts[in[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
