// Tiles are padded, but a few blocks go through all of them, so that the tiles of all blocks
// together are small: it looks as if there were no padding.
//
// deserves: 03_padded_tile
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["min(4 * SMS, cdiv(M, T) * cdiv(N, T))"]
// block = ["T", 8]
// ///

constexpr int T = 32;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[T][T + 1];
    const unsigned across = (N + T - 1) / T, tiles = across * ((M + T - 1) / T);
    for (unsigned i = blockIdx.x; i < tiles; i += gridDim.x) {
        const int top = i / across * T, left = i % across * T;
        for (int y = threadIdx.y; y < T; y += 8)
            if (top + y < M && left + threadIdx.x < N)
                tile[y][threadIdx.x] = in[size_t(top + y) * N + left + threadIdx.x];
        __syncthreads();
        for (int y = threadIdx.y; y < T; y += 8)
            if (left + y < N && top + threadIdx.x < M)
                out[size_t(left + y) * M + top + threadIdx.x] = tile[threadIdx.x][y];
        __syncthreads();
    }
}
