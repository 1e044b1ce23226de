// Wrong: there are 64 blocks for the rows at most, and no thread goes on behind them.
//
// /// launch
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// grid = ["min(cdiv(M, BLOCK), 64)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "sum_columns"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 128;

extern "C" __global__ void sum_rows(const float* in, float* rows, int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row < M) {
        float sum = 0.0f;
        for (int column = 0; column < N; ++column) {
            sum += in[size_t(row) * N + column];
        }
        rows[row] = sum;
    }
}

extern "C" __global__ void sum_columns(const float* in, float* cols, int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column < N) {
        float sum = 0.0f;
        for (int row = 0; row < M; ++row) {
            sum += in[size_t(row) * N + column];
        }
        cols[column] = sum;
    }
}
