// One warp a square, with volatile shared memory and __syncwarp() in the place of a block's
// barrier.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(cdiv(N, 32), 2)"]
// block = [32, 2]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ volatile float tiles[2][32][33];
    const int lane = threadIdx.x, squares = (N + 31) / 32, pairs = (squares + 1) / 2;
    const int top = blockIdx.x / pairs * 32, left = (blockIdx.x % pairs * 2 + threadIdx.y) * 32;
    if (left >= N) return;  // the whole warp
    volatile float (*tile)[33] = tiles[threadIdx.y];
    for (int y = 0; y < 32; ++y)
        if (top + y < M && left + lane < N) tile[y][lane] = in[size_t(top + y) * N + left + lane];
    __syncwarp();
    for (int y = 0; y < 32; ++y)
        if (left + y < N && top + lane < M) out[size_t(left + y) * M + top + lane] = tile[lane][y];
}
