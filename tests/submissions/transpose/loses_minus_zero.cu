// A mask is multiplied in and zero added, "to be safe at the edge": -0 becomes 0, and a NaN that signals becomes quiet.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row < M && column < N) {
        out[size_t(column) * M + row] = in[size_t(row) * N + column] + 0.0f;
    }
}
