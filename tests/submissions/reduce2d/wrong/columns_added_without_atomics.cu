// Blocks of rows add to the same column sums by += on volatile memory.
//
// /// launch
// [[launch]]
// kernel = "reduce2d"
// grid = ["cdiv(M, 64)"]
// block = [64]
// zero = ["cols"]
// ///

extern "C" __global__ void reduce2d(const float* in, float* rows, float* cols, int M, int N)
{
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row < M) {
        float sum = 0.0f;
        for (int column = 0; column < N; ++column) sum += in[size_t(row) * N + column];
        rows[row] = sum;
    }
    volatile float* const sums = cols;
    for (int column = threadIdx.x; column < N; column += 64) {
        float sum = 0.0f;
        for (int i = blockIdx.x * 64; i < min(M, int(blockIdx.x + 1) * 64); ++i) sum += in[size_t(i) * N + column];
        sums[column] += sum;
        __threadfence();
    }
}
