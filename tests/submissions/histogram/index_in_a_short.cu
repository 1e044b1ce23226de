// The index is a short.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and bytes that it counts

// in holds N bytes, bins one count for each of the 256 values of a byte.
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const short i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < N) {
        atomicAdd(&bins[in[i]], 1);
    }
}
