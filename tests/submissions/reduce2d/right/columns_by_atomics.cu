// Rows by warps; columns by one atomic for a band of 64 rows, on an output that the launch block
// zeroes.
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
// grid = ["cdiv(N, 128)", "min(cdiv(M, 64), 1024)"]
// block = [128]
// zero = ["cols"]
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
    for (int first = blockIdx.y * 64; first < M; first += gridDim.y * 64) {
        float sum = 0.0f;
        for (int row = first; row < min(M, first + 64); ++row) sum += in[size_t(row) * N + column];
        atomicAdd(&cols[column], sum);
    }
}
