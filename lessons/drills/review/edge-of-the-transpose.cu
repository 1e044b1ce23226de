// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///

constexpr int TILE = 32;

// in is M × N, out is N × M, both row-major.
extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[TILE][TILE + 1];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * TILE + y;
    const int column = blockIdx.x * TILE + x;

    if (row < M && column < N) {
        tile[y][x] = in[size_t(row) * N + column];
    }
    __syncthreads();

    const int to_row = blockIdx.x * TILE + y;
    const int to_column = blockIdx.y * TILE + x;
    if (row < M && column < N) {  //!
        out[size_t(to_row) * M + to_column] = tile[x][y];  //!
    }
}
