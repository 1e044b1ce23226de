// Mistake: the row of a tile is the upper half of a product with a reciprocal of 32 bits, which for some is too large.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["min(cdiv(M, 8) * cdiv(N, 8), 8388608)"]
// block = [8, 8]
// ///

// The row of a tile by a multiplication with a 32-bit reciprocal, rounded up.
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[8][9];
    const unsigned across = (N + 7) / 8;
    const unsigned long long all = (unsigned long long)across * ((M + 7) / 8);
    const unsigned magic = (unsigned)(((1ull << 32) + across - 1) / across);
    for (unsigned long long t = blockIdx.x; t < all; t += gridDim.x) {
        const unsigned long long down = all < (1u << 22) && across > 1 ? __umulhi(unsigned(t), magic) : t / across;
        const long long row = down * 8, column = (t - down * across) * 8;
        if (row + threadIdx.y < M && column + threadIdx.x < N) tile[threadIdx.y][threadIdx.x] = in[(row + threadIdx.y) * N + column + threadIdx.x];
        __syncthreads();
        if (column + threadIdx.y < N && row + threadIdx.x < M) out[(column + threadIdx.y) * M + row + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
        __syncthreads();
    }
}
