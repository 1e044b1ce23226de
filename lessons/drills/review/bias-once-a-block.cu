// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, COLUMNS)", "cdiv(M, ROWS)"]
// block = ["COLUMNS", "WORKERS"]
// ///

constexpr int COLUMNS = 64;  // of a block
constexpr int ROWS = 16;     // of a block
constexpr int WORKERS = 4;   // rows of threads

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    __shared__ float shift[COLUMNS];
    const int column = blockIdx.x * COLUMNS + threadIdx.x;
    const int first_row = blockIdx.y * ROWS;

    __syncthreads();  //!
    if (threadIdx.y == 0 && column < N) {
        shift[threadIdx.x] = bias[column];  //~
    }

    if (column >= N) {
        return;
    }
    for (int row = first_row + threadIdx.y; row < min(first_row + ROWS, M); row += WORKERS) {
        const size_t i = size_t(row) * N + column;
        out[i] = in[i] + shift[threadIdx.x];
    }
}
