// y[column][row] = x[row][column] for N x N matrices, by tiles of 4 x 4 in shared memory.
//
// /// launch
// [[launch]]
// kernel = "tile"
// grid = ["tiles", "tiles"]
// block = [4, 4]
// ///

extern "C" __global__ void tile(const int* x, int* y, int tiles)
{
    __shared__ int tile[4][4];
    const int N = 4 * tiles;
    int column = blockIdx.x * 4 + threadIdx.x;
    int row = blockIdx.y * 4 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x[row * N + column];
    __syncthreads();

    // Where this thread writes: blockIdx.x and .y are exchanged; threadIdx.x still runs along a row.
    column = blockIdx.y * 4 + threadIdx.x;
    row = blockIdx.x * 4 + threadIdx.y;
    // BEGIN SOLUTION
    y[row * N + column] = tile[threadIdx.x][threadIdx.y];
    // STARTER: // TODO: which element of the tile is that?
    // STARTER: y[row * N + column] = tile[threadIdx.y][threadIdx.x];
    // END SOLUTION
}
