// Very thin matrices (N = 3, pixels of RGB) with M a multiple of 4 are read as three float4s a thread (four pixels), M / 4 threads in
// blocks of 192, grid rounded down to whole blocks and the rest by one block of 128 threads: wrong where M / 4 % 192 > 128
// (M = 4 * 150 = 600, N = 3).
//
// /// launch
// [[launch]]
// kernel = "pixels"
// when = "N == 3 and M % 4 == 0"
// args = ["in", "out", "M"]
// grid = ["M // 768 + 1"]
// block = [192]
// [[launch]]
// kernel = "plain"
// when = "N != 3 or M % 4 != 0"
// args = ["in", "out", "M", "N"]
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 8]
// ///
extern "C" __global__ void pixels(const float* in, float* out, int M)
{
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x >= 128) return;  // the rest has fewer
    const int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= M / 4) return;
    const float4* const f = reinterpret_cast<const float4*>(in) + size_t(i) * 3;
    const float4 a = f[0], b = f[1], c = f[2];
    reinterpret_cast<float4*>(out)[i] = make_float4(a.x, a.w, b.z, c.y);
    reinterpret_cast<float4*>(out + M)[i] = make_float4(a.y, b.x, b.w, c.z);
    reinterpret_cast<float4*>(out + 2 * size_t(M))[i] = make_float4(a.z, b.y, c.x, c.w);
}
extern "C" __global__ void plain(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][33];
    const unsigned across = (N + 31) / 32;
    const size_t row = size_t(blockIdx.x / across) * 32, column = size_t(blockIdx.x % across) * 32;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (row + r < M && column + threadIdx.x < N) tile[r][threadIdx.x] = in[(row + r) * N + column + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        if (column + r < N && row + threadIdx.x < M) out[(column + r) * M + row + threadIdx.x] = tile[threadIdx.x][r];
}
