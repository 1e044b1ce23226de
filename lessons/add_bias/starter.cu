// A row of numbers added to every row of a matrix. Your kernel goes here; replace this comment by its
// idea in a sentence.
//
// The block below says how the kernel is launched. Grid and block have two dimensions here, x first.
// The sizes (M rows, N columns) and the file's constexprs may be used, and cdiv(a, b) is a / b
// rounded up, so that the last, partly filled blocks are launched as well.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BLOCK_X)", "cdiv(M, BLOCK_Y)"]
// block = ["BLOCK_X", "BLOCK_Y"]
// ///

constexpr int BLOCK_X = 16;  // columns of a block
constexpr int BLOCK_Y = 16;  // rows of a block

// in and out have M rows of N floats each; bias has N floats, one for each column.
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * BLOCK_X + threadIdx.x;
    const int row = blockIdx.y * BLOCK_Y + threadIdx.y;

    // The last blocks reach beyond the edge of the matrix. Their threads out there must not touch
    // memory.
    if (row >= M || column >= N) {
        return;
    }

    // Memory has no rows. The matrix lies there row by row, each N elements long, so element
    // (row, column) comes after `row` whole rows and `column` elements of its own. (size_t has 64
    // bits: a large matrix has more elements than an int can count.)
    const size_t i = static_cast<size_t>(row) * N + column;

    // TODO: this copies. To each element belongs the bias of its column.
    out[i] = in[i];
}
