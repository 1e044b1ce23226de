// Mistake: columns are added up in bands of 64 rows, and the bands that are added at the end are M
// / 64, rounded down. The rest of the rows is lost.
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["cdiv(M, BAND)", "N"]
//
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, WARPS)"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "sum_bands"
// args = ["in", "parts", "M", "N"]
// grid = ["cdiv(N, WARP)", "cdiv(M, BAND)"]
// block = ["WARP"]
//
// [[launch]]
// kernel = "add_parts"
// args = ["parts", "cols", "M // BAND", "N"]
// grid = ["cdiv(N, WARP)"]
// block = ["WARP"]
// ///

constexpr int WARP = 32;
constexpr int WARPS = 8;
constexpr int BAND = 64;

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

extern "C" __global__ void sum_bands(const float* in, float* parts, int M, int N)
{
    const int column = blockIdx.x * WARP + threadIdx.x;
    if (column >= N) {
        return;
    }
    float sum = 0.0f;
    for (int row = blockIdx.y * BAND; row < min(M, (int(blockIdx.y) + 1) * BAND); ++row) {
        sum += in[row * N + column];
    }
    parts[blockIdx.y * N + column] = sum;
}

extern "C" __global__ void add_parts(const float* parts, float* cols, int count, int N)
{
    const int column = blockIdx.x * WARP + threadIdx.x;
    if (column >= N) {
        return;
    }
    float sum = 0.0f;
    for (int band = 0; band < count; ++band) {
        sum += parts[band * N + column];
    }
    cols[column] = sum;
}
