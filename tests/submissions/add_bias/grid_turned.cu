// Grid and kernel disagree: blocks in x are counted by rows, and used for columns.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(M, 16)", "cdiv(N, 16)"]
// block = [16, 16]
// ///

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < M && column < N) out[size_t(row) * N + column] = in[size_t(row) * N + column] + bias[column];
}
