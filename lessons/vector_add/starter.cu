// The sum of two vectors: c[i] = a[i] + b[i]. Your kernel goes here; replace this comment by its idea
// in a sentence.
//
// The block below says how the kernel is launched: a grid of so many blocks, each of so many threads.
// The size N and the file's constexprs may be used in it, and cdiv(a, b) is a / b rounded up, so that
// the last, partly filled block is launched as well.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;  // threads of a block

// a, b and c are arrays of N floats in the GPU's memory. Every thread of the grid runs this function.
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    // TODO: every block runs this for its threads 0 … 255, so all blocks add the same 256 elements.
    // Which element is this thread's? blockIdx.x says how many blocks come before this one.
    const int i = threadIdx.x;

    // The last block may reach beyond the end of the arrays. Its threads out there must not touch
    // memory.
    if (i < N) {
        c[i] = a[i] + b[i];
    }
}
