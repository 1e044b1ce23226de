// Wrong: a block counts in bins of its own in shared memory, but with ++, where threads with the same byte meet.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 8192)"]
// block = [256]
// zero = ["bins"]
// ///

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();

    const size_t first = size_t(blockIdx.x) * 8192;
    for (size_t i = first + threadIdx.x; i < first + 8192 && i < N; i += 256) {
        ++counts[in[i]];
    }
    __syncthreads();

    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
