// __syncthreads_or() is the barrier, and tells at the same time whether the square overhangs.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = ["T", "T"]
// ///

constexpr int T = 32;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[T][T + 1];
    const int across = (N + T - 1) / T, top = blockIdx.x / across * T, left = blockIdx.x % across * T;
    const bool inside = top + threadIdx.y < M && left + threadIdx.x < N;
    if (inside) tile[threadIdx.y][threadIdx.x] = in[size_t(top + threadIdx.y) * N + left + threadIdx.x];
    const bool overhangs = __syncthreads_or(!inside);
    if (!overhangs || (left + threadIdx.y < N && top + threadIdx.x < M))
        out[size_t(left + threadIdx.y) * M + top + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
