// /// launch
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, WARPS)"]
// block = ["32 * WARPS"]
//
// [[launch]]
// kernel = "sum_columns"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, 128)"]
// block = [128]
// ///

constexpr int WARPS = 4;

// Lane 0 gets the sum of the warp's 32 values.
__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

extern "C" __global__ void sum_rows(const float* in, float* rows, int M, int N)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= M) {
        return;
    }
    float sum = 0.0f;
    for (int column = lane; column < N; column += 32) {  //!
        sum += warp_sum(in[size_t(row) * N + column]);  //!
    }
    if (lane == 0) {
        rows[row] = sum;
    }
}

extern "C" __global__ void sum_columns(const float* in, float* cols, int M, int N)
{
    const int column = blockIdx.x * 128 + threadIdx.x;
    if (column >= N) {
        return;
    }
    float sum = 0.0f;
    for (int row = 0; row < M; ++row) {
        sum += in[size_t(row) * N + column];
    }
    cols[column] = sum;
}
