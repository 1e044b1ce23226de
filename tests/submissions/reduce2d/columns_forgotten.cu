// Mistake: rows are added up, columns are not.
//
// /// launch
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, WARPS)"]
// block = ["WARP", "WARPS"]
// ///

constexpr int WARP = 32;
constexpr int WARPS = 8;

extern "C" __global__ void sum_rows(const float* in, float* rows, int M, int N)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= M) {
        return;
    }
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += WARP) {
        sum += in[row * N + column];
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x == 0) {
        rows[row] = sum;
    }
}
