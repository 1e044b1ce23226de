// Indices are unsigned, "since they are never negative": they wrap at 2^32 elements, a matrix of 70,000 × 70,000. Below
// that everything is right, between 2^31 and 2^32 as well.
//
// /// launch
// [[launch]]
// kernel = "turn"
// grid = ["cdiv(N, 32) * cdiv(M, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void turn(const float* in, float* out, unsigned M, unsigned N)
{
    __shared__ float tile[32][33];
    const unsigned across = (N + 31) / 32;
    const unsigned row = blockIdx.x / across * 32, column = blockIdx.x % across * 32, x = threadIdx.x;
    for (unsigned y = threadIdx.y; y < 32; y += 8)
        if (row + y < M && column + x < N) tile[y][x] = in[(row + y) * N + column + x];
    __syncthreads();
    for (unsigned y = threadIdx.y; y < 32; y += 8)
        if (column + y < N && row + x < M) out[(column + y) * M + row + x] = tile[x][y];
}
