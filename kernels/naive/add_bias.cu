// One thread for each element of the matrix, with indices as they are written in mathematics: the
// first one, threadIdx.x, is the row, the second one, threadIdx.y, is the column.
//
// What it costs: a warp is 32 threads that differ in threadIdx.x, so it takes 32 rows of one column.
// Memory holds the matrix row by row, and the elements of a column lie a whole row, 4·N bytes, apart.
// Each request of a warp touches 32 sectors of 32 bytes, and uses 4 bytes of each.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(M, BLOCK_X)", "cdiv(N, BLOCK_Y)"]
// block = ["BLOCK_X", "BLOCK_Y"]
// ///

constexpr int BLOCK_X = 32;  // threads of a block in x, here rows: a warp
constexpr int BLOCK_Y = 8;   // threads of a block in y, here columns: 8 warps

// in and out have M rows of N elements, row-major: in[row][column] is in[row * N + column]. bias has
// N elements, one a column.
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int row = blockIdx.x * BLOCK_X + threadIdx.x;
    const int column = blockIdx.y * BLOCK_Y + threadIdx.y;

    // A guard for each index: blocks reach beyond the matrix on its right and below it.
    if (row < M && column < N) {
        // 64 bits: 65,536² elements no longer fit an int.
        const size_t i = static_cast<size_t>(row) * N + column;
        out[i] = in[i] + bias[column];
    }
}
