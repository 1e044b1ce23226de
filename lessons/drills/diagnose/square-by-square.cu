// A block of 32 × 8 threads copies a square of 32 × 32 elements,
// each from its row to its column.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, SIDE) * cdiv(N, SIDE)"]
// block = ["SIDE", "ROWS"]
// ///

constexpr int SIDE =
    32;  // of the square of elements that a block copies
constexpr int ROWS = 8;  // of threads: each takes four elements

// in is M × N, out is N × M, both row-major: out[column][row] =
// in[row][column].
extern "C" __global__ void transpose(const float* __restrict__ in,
                                     float* __restrict__ out, int M,
                                     int N)
{
    const int down = (M + SIDE - 1) / SIDE;
    const int top = blockIdx.x % down * SIDE;
    const int left = blockIdx.x / down * SIDE;
    const int column = left + threadIdx.x;
    for (int y = threadIdx.y; y < SIDE; y += ROWS) {
        const int row = top + y;
        if (row < M && column < N) {
            out[size_t(column) * M + row] =
                in[size_t(row) * N + column];
        }
    }
}
