// 32 warps of a block load a row of the tile each, one after the other: a barrier stands behind each turn, and
// nothing is in flight beside a warp's 128 bytes.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
// ///
extern "C" __global__ void __launch_bounds__(1024) transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][33];
    const int across = (N + 31) / 32, x = threadIdx.x, y = threadIdx.y;
    const int top = blockIdx.x / across * 32, left = blockIdx.x % across * 32;
    for (int turn = 0; turn < 32; ++turn) {
        if (y == turn && top + y < M && left + x < N) tile[y][x] = in[size_t(top + y) * N + left + x];
        __syncthreads();
    }
    if (left + y < N && top + x < M) out[size_t(left + y) * M + top + x] = tile[x][y];
}
