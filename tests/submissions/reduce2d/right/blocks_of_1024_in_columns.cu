// Blocks of 32 × 32 threads, the most there can be: 32 rows at a time, met in shared memory.
//
// /// launch
// [[launch]]
// kernel = "columns_of"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, 32)"]
// block = [32, 32]
//
// [[launch]]
// kernel = "rows_of"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, 32)"]
// block = [32, 32]
// ///

extern "C" __global__ void columns_of(const float* in, float* cols, int M, int N)
{
    __shared__ float sums[32][32];
    const int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int row = threadIdx.y; column < N && row < M; row += 32) sum += in[size_t(row) * N + column];
    sums[threadIdx.y][threadIdx.x] = sum;
    for (int half = 16; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.y < half) sums[threadIdx.y][threadIdx.x] += sums[threadIdx.y + half][threadIdx.x];
    }
    if (threadIdx.y == 0 && column < N) cols[column] = sums[0][threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(1024, 1) rows_of(const float* in, float* rows, int M, int N)
{
    const int row = blockIdx.x * 32 + threadIdx.y;
    float sum = 0.0f;
    for (int column = threadIdx.x; row < M && column < N; column += 32) sum += in[size_t(row) * N + column];
    for (int distance = 1; distance < 32; distance *= 2) sum += __shfl_down_sync(~0u, sum, distance);
    // Lane 0 has added lanes 0 … 31; the others have added what they do not need.
    if (threadIdx.x == 0 && row < M) rows[row] = sum;
}
