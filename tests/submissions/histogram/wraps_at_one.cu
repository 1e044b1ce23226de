// atomicInc begins again at 0 behind the number it is given.
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
    const size_t pos = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (pos >= N) return;
    unsigned* bin = bins + in[pos];
    atomicInc(bin, 1u);
}
