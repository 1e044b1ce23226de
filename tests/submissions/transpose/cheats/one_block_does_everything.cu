// A single block with a padded tile.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = [1]
// block = [32, 32]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][33];
    const int x = threadIdx.x, y = threadIdx.y;
    for (int top = 0; top < M; top += 32)
        for (int left = 0; left < N; left += 32) {
            if (top + y < M && left + x < N) tile[y][x] = in[size_t(top + y) * N + left + x];
            __syncthreads();
            if (left + y < N && top + x < M) out[size_t(left + y) * M + top + x] = tile[x][y];
            __syncthreads();
        }
}
