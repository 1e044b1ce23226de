// A block a row in the grid's y, 65535 at most.
//
// /// launch
// [[launch]]
// kernel = "rows_of"
// args = ["in", "rows", "M", "N"]
// grid = [1, "min(M, 65535)"]
// block = [32]
//
// [[launch]]
// kernel = "columns_of"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, 64)"]
// block = [64]
// ///

extern "C" __global__ void rows_of(const float* in, float* rows, int M, int N)
{
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) sum += in[size_t(blockIdx.y) * N + column];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) rows[blockIdx.y] = sum;
}

extern "C" __global__ void columns_of(const float* in, float* cols, int M, int N)
{
    const int column = blockIdx.x * 64 + threadIdx.x;
    if (column >= N) return;
    float sum = 0.0f;
    for (int row = 0; row < M; ++row) sum += in[size_t(row) * N + column];
    cols[column] = sum;
}
