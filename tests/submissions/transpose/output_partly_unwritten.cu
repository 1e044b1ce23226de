// Mistake: a thread moves two neighbours of a row and asks whether both are inside. Where N is odd,
// the last column is moved by nobody.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, 2 * BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int BLOCK = 16;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = 2 * (blockIdx.x * BLOCK + threadIdx.x);
    if (row < M && column + 1 < N) {
        out[column * M + row] = in[row * N + column];
        out[(column + 1) * M + row] = in[row * N + column + 1];
    }
}
