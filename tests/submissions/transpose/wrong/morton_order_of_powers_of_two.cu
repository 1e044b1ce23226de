// Mistake: where both sides are powers of two from 128 on, tiles of 32 are taken in Morton order, whose bits are shared out
// evenly: right for squares and N = 2 M; for 256 x 128 it leaves tiles out and takes others beyond the edge. The contract: any M, N.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 8]
// ///
__device__ int even_bits(unsigned v)
{
    int found = 0;
    for (int bit = 0; bit < 16; ++bit) found |= (v >> 2 * bit & 1) << bit;
    return found;
}
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[32][33];
    const int across = (N + 31) / 32;
    int down = blockIdx.x / across, right = blockIdx.x % across;
    if (__popc(M) + __popc(N) == 2 && (M & N | M >> 1 & N | M & N >> 1) >> 7) {
        down = even_bits(blockIdx.x >> 1);
        right = even_bits(blockIdx.x);
    }
    for (int r = threadIdx.y; r < 32; r += 8) {
        const int row = down * 32 + r, column = right * 32 + threadIdx.x;
        if (row < M && column < N) tile[r][threadIdx.x] = in[size_t(row) * N + column];
    }
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8) {
        const int row = right * 32 + r, column = down * 32 + threadIdx.x;
        if (row < N && column < M) out[size_t(row) * M + column] = tile[threadIdx.x][r];
    }
}
