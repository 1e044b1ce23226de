// A matrix is indexed with two brackets, as an array of arrays.
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

    if (row >= M || column >= N) {
        return;
    }

    out[row][column] = in[row][column] + bias[column];
}
