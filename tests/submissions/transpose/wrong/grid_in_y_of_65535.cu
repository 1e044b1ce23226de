// The rows of squares are the grid's y, capped at 65535 without a loop.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, 32)", "min(cdiv(M, 4), 65535)"]
// block = [32, 4]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.y * 4 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    if (row < M && column < N) out[size_t(column) * M + row] = in[size_t(row) * N + column];
}
