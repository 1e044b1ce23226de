// Mistake: rows beyond 2048 are shared out to 2048 bands, (M + 2046) / 2048 rows each, whose parts of the columns are
// added by atomics: where M % 2048 == 1 (M = 2049, 4097) the last row does not count. Contract: any M.
//
// /// launch
// [[launch]]
// kernel = "reduce2d"
// grid = ["cdiv(N, BLOCK)", "min(M, 2048)"]
// block = ["BLOCK"]
// zero = ["rows", "cols"]
// ///
constexpr int BLOCK = 128;
extern "C" __global__ void reduce2d(const float* __restrict__ in, float* __restrict__ rows, float* __restrict__ cols,
                                    int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    const int height = M <= 2048 ? 1 : (M + 2046) / 2048;
    float below = 0.0f;
    for (int r = 0; r < height; ++r) {
        const int row = blockIdx.y * height + r;
        if (row >= M) break;
        float v = column < N ? in[size_t(row) * N + column] : 0.0f;
        below += v;
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
        if (threadIdx.x % 32 == 0 && column < N) atomicAdd(rows + row, v);
    }
    if (column < N && int(blockIdx.y) * height < M) atomicAdd(cols + column, below);
}
