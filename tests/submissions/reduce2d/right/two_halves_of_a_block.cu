// One half of the block adds the rows of a tile, the other its columns: two branches, each with a
// barrier of its own.
//
// /// launch
// [[scratch]]
// name = "row_parts"
// dtype = "float32"
// shape = ["cdiv(N, 64)", "M"]
//
// [[scratch]]
// name = "column_parts"
// dtype = "float32"
// shape = ["cdiv(M, 64)", "N"]
//
// [[launch]]
// kernel = "tiles"
// args = ["in", "row_parts", "column_parts", "M", "N"]
// grid = ["cdiv(N, 64) * cdiv(M, 64)"]
// block = [128]
//
// [[launch]]
// kernel = "parts"
// args = ["row_parts", "rows", "cdiv(N, 64)", "M"]
// grid = ["cdiv(M, 64)"]
// block = [64]
//
// [[launch]]
// kernel = "parts"
// args = ["column_parts", "cols", "cdiv(M, 64)", "N"]
// grid = ["cdiv(N, 64)"]
// block = [64]
// ///

extern "C" __global__ void tiles(const float* in, float* row_parts, float* column_parts, int M, int N)
{
    __shared__ float tile[64][65];
    __shared__ float sums[2][64];
    const int t = threadIdx.x % 64, across = (N + 63) / 64;
    const bool of_rows = threadIdx.x < 64;
    const int top = blockIdx.x / across * 64, left = blockIdx.x % across * 64;
    for (int i = threadIdx.x; i < 64 * 64; i += 128) {
        const int row = top + i / 64, column = left + i % 64;
        tile[i / 64][i % 64] = row < M && column < N ? in[size_t(row) * N + column] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    if (of_rows) {
        for (int i = 0; i < 64; ++i) sum += tile[t][i];
        sums[0][63 - t] = sum;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (top + t < M) row_parts[size_t(left / 64) * M + top + t] = sums[0][63 - t];
    } else {
        for (int i = 0; i < 64; ++i) sum += tile[i][t];
        sums[1][63 - t] = sum;
        asm volatile("bar.sync 2, 64;" ::: "memory");
        if (left + t < N) column_parts[size_t(top / 64) * N + left + t] = sums[1][63 - t];
    }
}

extern "C" __global__ void parts(const float* parts, float* sums, int count, int length)
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= length) return;
    float sum = 0.0f;
    for (int part = 0; part < count; ++part) sum += parts[size_t(part) * length + i];
    sums[i] = sum;
}
