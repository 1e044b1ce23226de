// The pointer goes on by M, and rows are N long.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, THREADS)", "cdiv(M, ROWS)"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 128;
constexpr int ROWS = 8;

// a thread takes ROWS elements of one column
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int col = blockIdx.x * THREADS + threadIdx.x;
    const int first_row = blockIdx.y * ROWS;
    if (col >= N) return;

    const float b = bias[col];
    const float* src = in + (size_t)first_row * N + col;
    float* dst = out + (size_t)first_row * N + col;
    for (int r = first_row; r < first_row + ROWS && r < M; r++) {
        *dst = *src + b;
        src += N;
        dst += M;
    }
}
