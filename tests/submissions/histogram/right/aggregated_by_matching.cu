// Lanes that hold the same byte find each other with __match_any_sync, and the first of them counts for all.
//
// deserves: 01_block_copy
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(8 * SMS, cdiv(N, 8192))"]
// block = [256]
// zero = ["bins"]
// ///

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const size_t stride = size_t(gridDim.x) * 256;
    for (size_t base = size_t(blockIdx.x) * 256; base < N; base += stride) {
        const size_t i = base + threadIdx.x;
        const unsigned byte = i < N ? in[i] : 256;  // beyond the end: none
        const unsigned same = __match_any_sync(~0u, byte);
        if (byte < 256 && threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(&counts[byte], __popc(same));
    }
    __syncthreads();
    if (counts[threadIdx.x]) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
