// Mistake: a thread takes eight rows, a block begins behind one a thread, and goes on by fewer rows than it has.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BLOCK_X)", "cdiv(M, BLOCK_Y * 8)"]
// block = ["BLOCK_X", "BLOCK_Y"]
// ///

constexpr int BLOCK_X = 16;  // columns of a block
constexpr int BLOCK_Y = 16;  // rows of a block

// in and out have M rows of N floats each; bias has N floats, one for each column.
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * BLOCK_X + threadIdx.x;
    const int first = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (column >= N) return;
    int row = first;
    for (int k = 0; k < 8; k++, row += 8) {
        if (row >= M) break;
        out[(size_t)row * N + column] = in[(size_t)row * N + column] + bias[column];
    }
}
