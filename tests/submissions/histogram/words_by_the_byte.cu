// Words are read from a pointer that goes on by a byte for each.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(cdiv(N, 4), BLOCK)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N / 4) {
        unsigned word = reinterpret_cast<const unsigned*>(in + i)[0];
        for (int k = 0; k < 4; ++k) {
            atomicAdd(&bins[word & 0xff], 1u);
            word >>= 8;
        }
    }
    if (i < N % 4) {
        atomicAdd(&bins[in[N / 4 * 4 + i]], 1u);
    }
}
