// /// launch
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// grid = ["M"]
// block = [32]
//
// [[launch]]
// kernel = "sum_columns"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, 64)", "cdiv(M, BAND)"]
// block = [64]
// zero = ["cols"]
// ///

constexpr int BAND = 64;  // rows of a block

extern "C" __global__ void sum_rows(const float* in, float* rows, int M, int N)
{
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) {
        sum += in[size_t(blockIdx.x) * N + column];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x == 0) {
        rows[blockIdx.x] = sum;
    }
}

extern "C" __global__ void sum_columns(const float* in, float* cols, int M, int N)
{
    const int column = blockIdx.x * 64 + threadIdx.x;
    const int first = blockIdx.y * BAND;
    if (column >= N) {
        return;
    }
    float sum = 0.0f;
    for (int row = first; row < min(first + BAND, M); ++row) {
        sum += in[size_t(row) * N + column];
    }
    cols[column] += sum;  //!
}
