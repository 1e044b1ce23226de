// The bias passes through an int.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BLOCK_X)", "cdiv(M, BLOCK_Y * ROWS)"]
// block = ["BLOCK_X", "BLOCK_Y"]
// ///

constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 8;
constexpr int ROWS = 4;

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    __shared__ float part[BLOCK_X];
    const int column = blockIdx.x * BLOCK_X + threadIdx.x;
    const int first = blockIdx.y * BLOCK_Y * ROWS + threadIdx.y;
    if (threadIdx.y == 0) {
        part[threadIdx.x] = column < N ? bias[column] : 0.0f;
    }
    __syncthreads();
    if (column < N) {
        const int mine = part[threadIdx.x];
        for (int k = 0; k < ROWS; ++k) {
            const int row = first + k * BLOCK_Y;
            if (row < M) {
                out[size_t(row) * N + column] = in[size_t(row) * N + column] + mine;
            }
        }
    }
}
