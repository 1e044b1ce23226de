// Takes words of four bytes alone, and keeps all bits above a byte that it has shifted out.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 4 * BLOCK)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N / 4) {
        const unsigned word = reinterpret_cast<const unsigned*>(in)[i];
        for (int shift = 0; shift < 32; shift += 8) {
            atomicAdd(&counts[word >> shift], 1);
        }
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
