// A shift counts bits.
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
    const int t = blockIdx.x * BLOCK + threadIdx.x;
    const int whole = N / 4;
    if (t < whole) {
        const unsigned word = reinterpret_cast<const unsigned*>(in)[t];
        for (int k = 0; k < 4; ++k) {
            atomicAdd(&bins[(word >> k) & 0xff], 1);
        }
    } else if (t == whole) {
        for (int i = 4 * whole; i < N; ++i) {
            atomicAdd(&bins[in[i]], 1);
        }
    }
}
