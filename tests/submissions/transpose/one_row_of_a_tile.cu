// A tile of 32 rows for a block of 8, of which each thread takes one.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][33];
    int across = (N + 31) / 32;
    int tile_row = blockIdx.x / across * 32;
    int tile_col = blockIdx.x % across * 32;
    int row = tile_row + threadIdx.y, col = tile_col + threadIdx.x;
    if (row < M && col < N)
        tile[threadIdx.y][threadIdx.x] = in[size_t(row) * N + col];
    __syncthreads();
    row = tile_row + threadIdx.x;
    col = tile_col + threadIdx.y;
    if (row < M && col < N)
        out[size_t(col) * M + row] = tile[threadIdx.x][threadIdx.y];
}
