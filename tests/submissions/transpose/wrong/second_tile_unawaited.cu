// Persistent blocks, with a barrier between filling the tile and reading it, and none between reading it and filling it
// again. A block has a second tile only where there are more than 2048 tiles.
//
// /// launch
// [[launch]]
// kernel = "turn"
// grid = ["min(2048, cdiv(N, 32) * cdiv(M, 32))"]
// block = [32, 8]
// ///

extern "C" __global__ void turn(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][33];
    const long long across = (N + 31ll) / 32, tiles = across * ((M + 31ll) / 32);
    const int x = threadIdx.x;
    for (long long t = blockIdx.x; t < tiles; t += gridDim.x) {
        const long long row = t / across * 32, column = t % across * 32;
        for (int y = threadIdx.y; y < 32; y += 8)
            if (row + y < M && column + x < N) tile[y][x] = in[(row + y) * N + column + x];
        __syncthreads();
        for (int y = threadIdx.y; y < 32; y += 8)
            if (column + y < N && row + x < M) out[(column + y) * M + row + x] = tile[x][y];
    }
}
