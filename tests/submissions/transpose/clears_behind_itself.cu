// Mistake: the first thread sets the last element, which belongs to another block, to zero "to be safe".
// Which of the two values stays is a matter of luck.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///

constexpr int TILE = 32;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    if (row == 0 && column == 0) {
        out[size_t(M) * N - 1] = 0.0f;
    }
    if (row < M && column < N) {
        out[size_t(column) * M + row] = in[size_t(row) * N + column];
    }
}
