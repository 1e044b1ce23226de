// Sum: out[0] is the sum of the N numbers of in. Your kernel goes here; replace this comment by its
// idea in a sentence.
//
// The block below says how the kernel is launched. The size N and the file's constexprs may be used
// in its expressions, and cdiv(a, b) is a / b rounded up. `zero` names arrays that are set to zero
// before the launch: out is zero when your kernel begins.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and numbers that it adds

// in holds N floats, out one.
extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;

    // TODO: all threads read out[0], add to it and write it back, and hardly one of them sees what
    // the others have added. Which function adds in one step?
    if (i < N) {
        out[0] += in[i];
    }
}
