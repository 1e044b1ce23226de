// Two counts of 16 bits share a word, to have more copies. A block that meets one byte 65,536 times carries into its
// neighbour: random bytes never show it, a stretch of equal ones does.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = [1]
// block = [256]
// zero = ["bins"]
// ///

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[128];
    if (threadIdx.x < 128) counts[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = threadIdx.x; i < N; i += 256) atomicAdd(&counts[in[i] / 2], 1u << 16 * (in[i] % 2));
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x / 2] >> 16 * (threadIdx.x % 2) & 0xffff);
}
