// Two launches: one turns the even rows of squares, one the odd ones, by a number in the
// arguments.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// args = ["in", "out", "M", "N", "0"]
// grid = ["cdiv(cdiv(M, T), 2)", "min(cdiv(N, T), 65535)"]
// block = ["T", 8]
//
// [[launch]]
// kernel = "transpose"
// args = ["in", "out", "M", "N", "1"]
// grid = ["cdiv(cdiv(M, T), 2)", "min(cdiv(N, T), 65535)"]
// block = ["T", 8]
// ///

constexpr int T = 32;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N, int odd)
{
    __shared__ float tile[T][T + 1];
    const int top = (2 * blockIdx.x + odd) * T;
    for (int left = blockIdx.y * T; left < N; left += gridDim.y * T) {
        for (int y = threadIdx.y; y < T; y += 8)
            if (top + y < M && left + threadIdx.x < N)
                tile[y][threadIdx.x] = in[size_t(top + y) * N + left + threadIdx.x];
        __syncthreads();
        for (int y = threadIdx.y; y < T; y += 8)
            if (left + y < N && top + threadIdx.x < M)
                out[size_t(left + y) * M + top + threadIdx.x] = tile[threadIdx.x][y];
        __syncthreads();
    }
}
