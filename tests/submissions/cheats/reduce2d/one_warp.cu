// One warp adds everything: rows in registers, columns by atomics that each of its lanes makes for four of them.
//
// /// launch
// [[launch]]
// kernel = "reduce2d"
// zero = ["cols"]
// grid = [1]
// block = [32]
// ///

extern "C" __global__ void reduce2d(const float* in, float* rows, float* cols, int M, int N)
{
    for (int row = 0; row < M; ++row) {
        float sum = 0.0f;
        for (int column = threadIdx.x; column < N; column += 32) {
            const float value = in[size_t(row) * N + column];
            sum += value;
            atomicAdd(&cols[column], value);
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        }
        if (threadIdx.x == 0) {
            rows[row] = sum;
        }
    }
}
