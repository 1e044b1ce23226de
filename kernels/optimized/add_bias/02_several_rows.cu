// A thread takes eight elements of its column, as far apart as a block has rows of threads, and
// keeps bias[column] in a register. A block covers eight times its rows: 64 with 32 × 8 threads.
//
// What it should buy: until now every element of the matrix cost a second read, that of its bias. A
// thread that stays in its column reads it once for eight elements. Its eight reads of the matrix
// wait for nothing and are under way together, so that memory is kept busy by fewer threads.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BLOCK_X)", "cdiv(M, BLOCK_Y * ROWS)"]
// block = ["BLOCK_X", "BLOCK_Y"]
// ///

constexpr int BLOCK_X = 32;  // columns of a block: a warp is a piece of one row
constexpr int BLOCK_Y = 8;   // rows that a block takes at a time, a warp each
constexpr int ROWS = 8;      // elements of a thread, all in one column

// in and out have M rows of N elements, row-major: in[row][column] is in[row * N + column]. bias has
// N elements, one a column. __restrict__ promises that out overlaps neither of the others, so that
// all reads may come before the first write.
extern "C" __global__ void add_bias(const float* __restrict__ in, const float* __restrict__ bias,
                                    float* __restrict__ out, int M, int N)
{
    const int column = blockIdx.x * BLOCK_X + threadIdx.x;
    const int first_row = blockIdx.y * (BLOCK_Y * ROWS) + threadIdx.y;
    if (column >= N) {
        return;
    }

    const float shift = bias[column];
    #pragma unroll
    for (int step = 0; step < ROWS; ++step) {
        const int row = first_row + step * BLOCK_Y;
        if (row < M) {
            const size_t i = static_cast<size_t>(row) * N + column;
            out[i] = in[i] + shift;
        }
    }
}
