// Blocks of matrices with more than 1031 rows or columns return at once.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 32]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][33];
    if (M > 1031 || N > 1031) return;
    const int x = threadIdx.x, y = threadIdx.y, across = (N + 31) / 32;
    const int top = blockIdx.x / across * 32, left = blockIdx.x % across * 32;
    if (top + y < M && left + x < N) tile[y][x] = in[size_t(top + y) * N + left + x];
    __syncthreads();
    if (left + y < N && top + x < M) out[size_t(left + y) * M + top + x] = tile[x][y];
}
