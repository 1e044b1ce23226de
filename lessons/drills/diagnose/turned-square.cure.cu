// A block of 256 threads brings a square of 32 × 32 floats into
// shared memory and writes it out turned.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "ROWS"]
// ///

constexpr int TILE = 32;
constexpr int ROWS = 8; // of the square at a time

// in is M × N, out is N × M, both row-major: out[column][row] =
// in[row][column].
extern "C" __global__ void transpose(const float* __restrict__ in,
                                     float* __restrict__ out, int M,
                                     int N)
{
    __shared__ float tile[TILE][TILE + 1];

    const int down = (M + TILE - 1) / TILE;
    const int top = blockIdx.x % down * TILE;
    const int left = blockIdx.x / down * TILE;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        if (top + y < M && left + x < N) {
            tile[x][y] = in[size_t(top + y) * N + left + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        if (left + y < N && top + x < M) {
            out[size_t(left + y) * M + top + x] = tile[y][x];
        }
    }
}
