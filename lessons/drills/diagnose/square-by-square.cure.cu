// A block brings a square of 32 × 32 elements into shared memory
// and writes it out turned.
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
    __shared__ float tile[SIDE][SIDE + 1];

    const int down = (M + SIDE - 1) / SIDE;
    const int top = blockIdx.x % down * SIDE;
    const int left = blockIdx.x / down * SIDE;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < SIDE; y += ROWS) {
        if (top + y < M && left + x < N) {
            tile[y][x] = in[size_t(top + y) * N + left + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < SIDE; y += ROWS) {
        if (left + y < N && top + x < M) {
            out[size_t(left + y) * M + top + x] = tile[x][y];
        }
    }
}
