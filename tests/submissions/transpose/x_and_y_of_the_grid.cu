// The grid counts rows in x, where the kernel takes columns.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, BLOCK)", "cdiv(N, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///
constexpr int BLOCK = 16;
extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M || column >= N) return;
    out[size_t(column) * M + row] = in[size_t(row) * N + column];
}
