// A padded tile where the matrix is 1024 × 1024, the naive kernel everywhere else, main size
// included.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "tiles"
// when = "M == 1024 and N == 1024"
// grid = ["M // 32 * (N // 32)"]
// block = [32, 32]
//
// [[launch]]
// kernel = "transpose"
// when = "M != 1024 or N != 1024"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
// ///

extern "C" __global__ void tiles(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][33];
    const int x = threadIdx.x, y = threadIdx.y, top = blockIdx.x / (N / 32) * 32, left = blockIdx.x % (N / 32) * 32;
    tile[y][x] = in[size_t(top + y) * N + left + x];
    __syncthreads();
    out[size_t(left + y) * M + top + x] = tile[x][y];
}

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 32 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row < M && column < N) out[size_t(column) * M + row] = in[size_t(row) * N + column];
}
