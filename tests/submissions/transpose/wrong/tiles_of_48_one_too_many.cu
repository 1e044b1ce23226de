// Mistake: tiles of 48 x 48; the kernel counts N / 48 + 1 of them side by side, the grid cdiv(N, 48): where N is a multiple
// of 48 and M > 48, tiles are left out. The contract: any M and N.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 48) * cdiv(N, 48)"]
// block = [16, 16]
// ///
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[48][49];
    const int across = N / 48 + 1;
    const int down = blockIdx.x / across * 48, right = blockIdx.x % across * 48;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const int r = threadIdx.y + 16 * i, c = threadIdx.x + 16 * j;
            if (down + r < M && right + c < N) tile[r][c] = in[size_t(down + r) * N + right + c];
        }
    __syncthreads();
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const int r = threadIdx.y + 16 * i, c = threadIdx.x + 16 * j;
            if (right + r < N && down + c < M) out[size_t(right + r) * M + down + c] = tile[c][r];
        }
}
