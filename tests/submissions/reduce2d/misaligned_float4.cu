// Mistake: rows are read as float4s wherever they begin. Where N is no multiple of 4, most begin at
// no multiple of 16 bytes.
//
// /// launch
// [[launch]]
// kernel = "sum_rows"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, WARPS)"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "sum_columns"
// args = ["in", "cols", "M", "N"]
// grid = ["cdiv(N, WARP)"]
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
    const float4* const fours = reinterpret_cast<const float4*>(in + row * N);
    for (int i = threadIdx.x; i < N / 4; i += WARP) {
        sum += fours[i].x + fours[i].y + fours[i].z + fours[i].w;
    }
    for (int column = N / 4 * 4 + threadIdx.x; column < N; column += WARP) {
        sum += in[row * N + column];
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x == 0) {
        rows[row] = sum;
    }
}

extern "C" __global__ void sum_columns(const float* in, float* cols, int M, int N)
{
    __shared__ float sums[WARPS][WARP];
    const int column = blockIdx.x * WARP + threadIdx.x;
    float sum = 0.0f;
    if (column < N) {
        for (int row = threadIdx.y; row < M; row += WARPS) {
            sum += in[row * N + column];
        }
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < N) {
        for (int y = 1; y < WARPS; ++y) {
            sum += sums[y][threadIdx.x];
        }
        cols[column] = sum;
    }
}
