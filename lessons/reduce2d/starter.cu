// Row and column sums: rows[i] is the sum of row i of in, cols[j] the sum of column j. Your kernels go
// here; replace this comment by their idea in a sentence.
//
// The block below says how the kernels are launched, one [[launch]] after the other. Sizes (M, N) and
// the file's constexprs may be used in its expressions, and cdiv(a, b) is a / b rounded up. `args`
// says what a kernel is given. Arrays that the launches share can be declared as well:
//
//     [[scratch]]
//     name = "parts"
//     dtype = "float32"
//     shape = ["cdiv(N, BLOCK)", "M"]
//
// /// launch
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "sum_columns"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 128;  // threads of a block

// in is M × N, row-major: in[row][column] is in[row * N + column]. One thread a row.
extern "C" __global__ void sum_rows(const float* in, float* rows, int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;

    // The last block reaches beyond the last row. Its threads out there must not touch memory.
    if (row >= M) {
        return;
    }

    // TODO: this takes the first element of the row, not the sum of all. (size_t has 64 bits: a large
    // matrix has more elements than an int can count.)
    rows[row] = in[size_t(row) * N];
}

// One thread a column.
extern "C" __global__ void sum_columns(const float* in, float* cols, int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) {
        return;
    }

    float sum = 0.0f;
    for (int row = 0; row < M; ++row) {
        sum += in[size_t(row) * N + column];
    }
    cols[column] = sum;
}
