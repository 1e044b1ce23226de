// Of large matrices only the upper half is turned, and the lower one has nothing done to it.
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
    const int x = threadIdx.x, y = threadIdx.y, across = (N + 31) / 32;
    const int top = blockIdx.x / across * 32, left = blockIdx.x % across * 32;
    if (M > 4096 && top >= M / 2) return;
    if (top + y < M && left + x < N) tile[y][x] = in[size_t(top + y) * N + left + x];
    __syncthreads();
    if (left + y < N && top + x < M) out[size_t(left + y) * M + top + x] = tile[x][y];
}
