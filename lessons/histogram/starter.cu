// Histogram: bins[b] is how many of the N bytes of in are b. Your kernel goes here; replace this
// comment by its idea in a sentence.
//
// The block below says how the kernel is launched. The size N and the file's constexprs may be used
// in its expressions, and cdiv(a, b) is a / b rounded up. `zero` names arrays that are set to zero
// before the launch: all bins are zero when your kernel begins.
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
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;

    // TODO: this says that a byte is there, not how often. Threads that hold the same byte want the
    // same bin at the same time: which function adds in one step?
    if (i < N) {
        bins[in[i]] = 1;
    }
}
