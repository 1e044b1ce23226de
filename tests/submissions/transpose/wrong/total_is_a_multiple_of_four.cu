// Mistake: large matrices whose number of elements is a multiple of four are read as float4s: rows must be as well. Wrong
// (misaligned) for 66 x 70, where both sides are twice an odd number. Contract: any M and N.
//
// /// launch
// [[launch]]
// kernel = "fours"
// when = "M >= 64 and N >= 64 and M * N % 4 == 0 and N % 2 == 0"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = [8, 32]
//
// [[launch]]
// kernel = "transpose"
// when = "M < 64 or N < 64 or M * N % 4 != 0 or N % 2 != 0"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", 8]
// ///
constexpr int TILE = 32;
extern "C" __global__ void fours(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[TILE][TILE + 1];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + 4 * threadIdx.x;
    if (row < M && column + 3 < N) {
        const float4 v = *reinterpret_cast<const float4*>(in + size_t(row) * N + column);
        tile[threadIdx.y][4 * threadIdx.x] = v.x;
        tile[threadIdx.y][4 * threadIdx.x + 1] = v.y;
        tile[threadIdx.y][4 * threadIdx.x + 2] = v.z;
        tile[threadIdx.y][4 * threadIdx.x + 3] = v.w;
    } else if (row < M) {
        for (int j = 0; column + j < N && j < 4; ++j)
            tile[threadIdx.y][4 * threadIdx.x + j] = in[size_t(row) * N + column + j];
    }
    __syncthreads();
    const int thread = threadIdx.y * 8 + threadIdx.x;
    for (int k = thread; k < TILE * TILE; k += 256) {
        const int r = blockIdx.x * TILE + k / TILE, c = blockIdx.y * TILE + k % TILE;
        if (r < N && c < M) out[size_t(r) * M + c] = tile[k % TILE][k / TILE];
    }
}
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[TILE][TILE + 1];
    for (int j = threadIdx.y; j < TILE; j += 8) {
        const int row = blockIdx.y * TILE + j, column = blockIdx.x * TILE + threadIdx.x;
        if (row < M && column < N) tile[j][threadIdx.x] = in[size_t(row) * N + column];
    }
    __syncthreads();
    for (int j = threadIdx.y; j < TILE; j += 8) {
        const int row = blockIdx.x * TILE + j, column = blockIdx.y * TILE + threadIdx.x;
        if (row < N && column < M) out[size_t(row) * M + column] = tile[threadIdx.x][j];
    }
}
