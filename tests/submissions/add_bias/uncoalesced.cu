// Slow: threadIdx.x counts rows, so that the threads of a warp stand below one another.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32)", "cdiv(M, 32)"]
// block = [32, 32]
// ///

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int row = blockIdx.y * 32 + threadIdx.x;
    const int column = blockIdx.x * 32 + threadIdx.y;
    if (row < M && column < N) {
        out[size_t(row) * N + column] = in[size_t(row) * N + column] + bias[column];
    }
}
