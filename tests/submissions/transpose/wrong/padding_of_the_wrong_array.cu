// The tile has 33 columns, and its writer counts 32: rows overlap what their reader takes for
// others'.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32 * 33];
    const int across = (N + 31) / 32, top = blockIdx.x / across * 32, left = blockIdx.x % across * 32;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (top + y < M && left + threadIdx.x < N)
            tile[y * 32 + threadIdx.x] = in[size_t(top + y) * N + left + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        if (left + y < N && top + threadIdx.x < M)
            out[size_t(left + y) * M + top + threadIdx.x] = tile[threadIdx.x * 33 + y];
}
