// One guard, of the place in memory, for both indices: at the right edge of a matrix, it lets through the next row's.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BLOCK_X)", "cdiv(M, BLOCK_Y)"]
// block = ["BLOCK_X", "BLOCK_Y"]
// ///

constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 8;

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * BLOCK_X + threadIdx.x;
    const int row = blockIdx.y * BLOCK_Y + threadIdx.y;

    const size_t i = (size_t)row * N + column;
    if (i < (size_t)M * N) {
        out[i] = in[i] + bias[column];
    }
}
