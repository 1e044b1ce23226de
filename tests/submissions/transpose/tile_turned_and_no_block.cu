// Mistake: threads change places, and blocks do not: each tile is turned where it was.
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
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    __shared__ float tile[BLOCK][BLOCK];
    if (row < M && column < N) {
        tile[threadIdx.y][threadIdx.x] = in[size_t(row) * N + column];
    }
    __syncthreads();
    if (row < M && column < N) {
        out[size_t(row) * M + column] = tile[threadIdx.x][threadIdx.y];
    }
}
