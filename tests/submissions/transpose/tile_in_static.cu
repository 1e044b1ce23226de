// Mistake: the tile is `static`, which in C keeps an array: here all blocks share one, in global memory.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int BLOCK = 32;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    static float tile[BLOCK][BLOCK];
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row < M && column < N) {
        tile[threadIdx.y][threadIdx.x] = in[size_t(row) * N + column];
    }
    __syncthreads();
    const int r = blockIdx.x * BLOCK + threadIdx.y;
    const int c = blockIdx.y * BLOCK + threadIdx.x;
    if (r < N && c < M) {
        out[size_t(r) * M + c] = tile[threadIdx.x][threadIdx.y];
    }
}
