// Transpose: out is in with rows and columns exchanged. Your kernel goes here; replace this comment
// by its idea in a sentence.
//
// The block below says how the kernel is launched. Sizes (M, N) and the file's constexprs may be
// used in its expressions, and cdiv(a, b) is a / b rounded up, so that the last, partly filled
// block is launched as well.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int BLOCK = 32;  // a block has BLOCK × BLOCK threads: a warp is one row of its square

// in is M × N, out is N × M, both row-major: in[row][column] is in[row * N + column].
extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;

    // The last blocks reach beyond the edge of in. Their threads out there must not touch memory.
    if (row >= M || column >= N) {
        return;
    }

    // TODO: this copies. Element (row, column) of in belongs at (column, row) of out, whose rows are
    // M long. (size_t has 64 bits: a large matrix has more elements than an int can count.)
    out[size_t(row) * N + column] = in[size_t(row) * N + column];
}
