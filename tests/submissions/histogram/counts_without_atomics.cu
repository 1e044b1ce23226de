// Wrong: every thread adds 1 to a bin with ++, at the same time as others that have the same byte.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["bins"]
// ///

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i < N) {
        bins[in[i]]++;
    }
}
