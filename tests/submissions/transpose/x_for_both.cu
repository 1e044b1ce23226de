// Row and column both come from threadIdx.x.
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
    const int row = blockIdx.y * BLOCK + threadIdx.x;
    const int column = blockIdx.x * BLOCK + threadIdx.x;

    if (row >= M || column >= N) {
        return;
    }

    out[size_t(column) * M + row] = in[size_t(row) * N + column];
}
