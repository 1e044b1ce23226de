// Loops over a tile go on by 4 rows, and a block has 8 rows of threads.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE_DIM)", "cdiv(M, TILE_DIM)"]
// block = ["TILE_DIM", "BLOCK_ROWS"]
// ///

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;
constexpr int STEP = TILE_DIM / BLOCK_ROWS;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += STEP)
        if (x < N && y + j < M)
            tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * N + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += STEP)
        if (x < M && y + j < N)
            out[(size_t)(y + j) * M + x] = tile[threadIdx.x][threadIdx.y + j];
}
