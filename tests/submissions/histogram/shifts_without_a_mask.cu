// What is left of a word behind a shift is not one byte alone.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(cdiv(N, 4), BLOCK)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;

__device__ void count(unsigned* counts, unsigned word)
{
    for (int shift = 0; shift < 32; shift += 8) {
        atomicAdd(&counts[word >> shift], 1);
    }
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[BLOCK];
    counts[threadIdx.x] = 0;
    __syncthreads();

    const int t = blockIdx.x * BLOCK + threadIdx.x;
    const int whole = N / 4;
    if (t < whole) {
        count(counts, reinterpret_cast<const unsigned*>(in)[t]);
    } else if (t == whole) {
        for (int i = 4 * whole; i < N; ++i) {
            atomicAdd(&counts[in[i]], 1);
        }
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
