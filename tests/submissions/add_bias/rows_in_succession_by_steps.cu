// Rows begin as those in succession do, and go on as those that are BLOCK_Y apart.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BLOCK_X)", "cdiv(M, BLOCK_Y * ROWS)"]
// block = ["BLOCK_X", "BLOCK_Y"]
// ///

constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 8;
constexpr int ROWS = 8;

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * BLOCK_X + threadIdx.x;
    // each thread has ROWS rows, so it starts here
    const int first_row = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    if (column >= N) {
        return;
    }

    const float shift = bias[column];
    for (int step = 0; step < ROWS; ++step) {
        const int row = first_row + step * BLOCK_Y;
        if (row < M) {
            const size_t i = size_t(row) * N + column;
            out[i] = in[i] + shift;
        }
    }
}
