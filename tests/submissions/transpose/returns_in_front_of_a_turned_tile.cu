// Mistake: threads beyond the edge of the input return in front of the barrier, and store nothing of a turned tile.
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
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;

    // The last blocks reach beyond the edge of in. Their threads out there must not touch memory.
    if (row >= M || column >= N) {
        return;
    }

    __shared__ float tile[BLOCK][BLOCK];
    tile[threadIdx.y][threadIdx.x] = in[size_t(row) * N + column];
    __syncthreads();

    const int r = blockIdx.x * BLOCK + threadIdx.y;
    const int c = blockIdx.y * BLOCK + threadIdx.x;
    out[size_t(r) * M + c] = tile[threadIdx.x][threadIdx.y];
}
