// The place in a row is an unsigned short. It holds numbers up to 65,535: where a row is longer, it begins again at
// 0, and the loop does not end.
//
// /// launch
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "sum_columns"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 128;  // threads of a block, and sums that it computes

// rows[i] = the sum of row i of `in`, which is M × N, row-major.
extern "C" __global__ void sum_rows(const float* __restrict__ in, float* __restrict__ rows,
                                    int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    // The product of a row index and a row length is formed in 64 bits (size_t): 65,536² no longer
    // fits an int.
    float sum = 0.0f;
    for (unsigned short column = 0; column < N; ++column) {
        sum += in[size_t(row) * N + column];
    }
    rows[row] = sum;
}

// cols[j] = the sum of column j of `in`.
extern "C" __global__ void sum_columns(const float* __restrict__ in, float* __restrict__ cols,
                                       int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) {
        return;
    }
    float sum = 0.0f;
    for (int row = 0; row < M; ++row) {
        sum += in[size_t(row) * N + column];
    }
    cols[column] = sum;
}
