// Elements are moved as 32-bit integers: a copy that never looks at them as numbers.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// args = ["in", "out", "M", "N"]
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = ["T", 8]
// ///

constexpr int T = 32;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ unsigned tile[T][T + 1];
    const int across = (N + T - 1) / T, top = blockIdx.x / across * T, left = blockIdx.x % across * T;
    for (int y = threadIdx.y; y < T; y += 8)
        if (top + y < M && left + threadIdx.x < N)
            tile[y][threadIdx.x] = __float_as_uint(in[size_t(top + y) * N + left + threadIdx.x]);
    __syncthreads();
    for (int y = threadIdx.y; y < T; y += 8)
        if (left + y < N && top + threadIdx.x < M)
            out[size_t(left + y) * M + top + threadIdx.x] = __uint_as_float(tile[threadIdx.x][y]);
}
