// What is counted is where a byte lies, and not the byte.
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
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;

    if (i < N) {
        atomicAdd(&bins[i], 1);
    }
}
