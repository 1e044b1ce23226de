// Mistake: a semicolon is missing. The compiler says so, and the reason has to show its words and
// the line.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int BLOCK = 16;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row < M && column < N) {
        out[column * M + row] = in[row * N + column];
    }
}
