// A block of 32 x 8 threads is given a square of 32 x 32 elements, and each thread takes one.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "ROWS"]
// ///

constexpr int TILE = 32;
constexpr int ROWS = 8;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int column = blockIdx.x * TILE + threadIdx.x;
    const int row = blockIdx.y * TILE + threadIdx.y;

    if (row < M && column < N) {
        out[size_t(column) * M + row] = in[size_t(row) * N + column];
    }
}
