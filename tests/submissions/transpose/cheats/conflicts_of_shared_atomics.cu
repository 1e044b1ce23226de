// The unpadded tile is read by atomics, whose bank conflicts are not those of loads.
//
// deserves: 02_shared_tile
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = ["T", 8]
// ///

constexpr int T = 32;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ unsigned tile[T][T];
    const int across = (N + T - 1) / T, top = blockIdx.x / across * T, left = blockIdx.x % across * T;
    for (int y = threadIdx.y; y < T; y += 8)
        if (top + y < M && left + threadIdx.x < N)
            tile[y][threadIdx.x] = __float_as_uint(in[size_t(top + y) * N + left + threadIdx.x]);
    __syncthreads();
    for (int y = threadIdx.y; y < T; y += 8)
        if (left + y < N && top + threadIdx.x < M)
            out[size_t(left + y) * M + top + threadIdx.x] = __uint_as_float(atomicOr(&tile[threadIdx.x][y], 0u));
}
