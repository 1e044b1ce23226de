// Mistake: more than 1024 rows are shared out to 1024 blocks in y, (M + 1022) / 1024 rows each: rounded up one too
// little. Wrong where M % 1024 == 1 (M = 1025, 2049, 3073): the last row is not written. Contract: any M.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BLOCK)", "min(M, 1024)"]
// block = ["BLOCK"]
// ///
constexpr int BLOCK = 256;
extern "C" __global__ void add_bias(const float* __restrict__ in, const float* __restrict__ bias,
                                    float* __restrict__ out, int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) return;
    const int rows = M <= 1024 ? 1 : (M + 1022) / 1024;
    const float b = bias[column];
    const int first = blockIdx.y * rows;
    for (int row = first; row < min(first + rows, M); ++row)
        out[size_t(row) * N + column] = in[size_t(row) * N + column] + b;
}
