// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "ROWS"]
// ///

constexpr int TILE = 32;
constexpr int ROWS = 8;  // of threads

// in is M × N, out is N × M, both row-major.
extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[TILE][TILE + 1];

    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    for (int j = 0; j < TILE; j += ROWS) {
        if (row + j < M && column < N) {
            tile[threadIdx.y][threadIdx.x] = in[size_t(row + j) * N + column];  //!
        }
    }
    __syncthreads();

    row = blockIdx.x * TILE + threadIdx.y;
    column = blockIdx.y * TILE + threadIdx.x;
    for (int j = 0; j < TILE; j += ROWS) {
        if (row + j < N && column < M) {
            out[size_t(row + j) * M + column] = tile[threadIdx.x][threadIdx.y + j];  //~
        }
    }
}
