// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///

constexpr int TILE = 16;

// in is M × N, out is N × M, both row-major.
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[TILE][TILE + 1];

    int row = blockIdx.y * TILE + threadIdx.y;  //!
    int column = blockIdx.x * TILE + threadIdx.x;  //!
    if (row < M && column < N) {
        tile[threadIdx.y][threadIdx.x] = in[row * N + column];  //!
    }
    __syncthreads();

    row = blockIdx.y * TILE + threadIdx.x;
    column = blockIdx.x * TILE + threadIdx.y;
    if (row < M && column < N) {
        out[column * M + row] = tile[threadIdx.x][threadIdx.y];  //!
    }
}
