// A stencil: each output is the sum of the 17 elements around its place. Your kernel goes here;
// replace this comment by its idea in a sentence.
//
// The block below says how the kernel is launched. The size N and the file's constexprs may be used
// in it, and cdiv(a, b) is a / b rounded up, so that the last, partly filled block is launched as
// well.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and outputs
constexpr int R = 8;        // the radius: how far the stencil reaches to either side

// in and out have N floats each; out[i] = in[i - R] + … + in[i + R]. Elements before the first and
// behind the last count as zero.
extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    // The last block may reach beyond the end of the arrays. Its threads out there have no output.
    if (i >= N) {
        return;
    }

    // TODO: this is the middle one alone. Add up all 2 * R + 1 of them, and mind both ends of `in`.
    out[i] = in[i];
}
