// A semicolon ends the loop before its body.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, ROWS)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 128;
constexpr int ROWS = 8;

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    int col = blockIdx.x * BLOCK + threadIdx.x;
    if (col >= N) return;
    float b = bias[col];
    int r;
    for (r = 0; r < ROWS; r++);
    {
        int row = blockIdx.y * ROWS + r;
        if (row < M) {
            out[(size_t)row * N + col] = in[(size_t)row * N + col] + b;
        }
    }
}
