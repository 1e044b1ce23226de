// Lanes of a ragged last piece add up with whoever is there: __activemask() is the mask of the shuffles. It says who
// happens to run along, and nobody has to: a warp may go through the branch in two parts, and lane 0 then misses the sums
// of the other. Who takes part has to be said before the branch, by __ballot_sync.
//
// /// launch
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// zero = ["rows"]
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
    float total = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) {
        float v = in[size_t(row) * N + column];
        const unsigned here = __activemask();
        for (int d = 16; d; d >>= 1) {
            const float other = __shfl_down_sync(here, v, d);
            if (threadIdx.x + d < 32 && (here >> (threadIdx.x + d) & 1u)) v += other;
        }
        total += v;
    }
    if (threadIdx.x == 0) rows[row] = total;
}

extern "C" __global__ void sum_columns(const float* in, float* cols, int M, int N)
{
    const int column = blockIdx.x * 128 + threadIdx.x;
    if (column >= N) return;
    float sum = 0.0f;
    for (int row = 0; row < M; ++row) sum += in[size_t(row) * N + column];
    cols[column] = sum;
}
