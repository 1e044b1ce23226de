// y of the grid counts single rows: it ends at 65,535 of them, and is right so far.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE)", "M"]
// block = ["TILE"]
// ///

constexpr int TILE = 32;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int column = blockIdx.x * TILE + threadIdx.x;
    const int row = blockIdx.y;
    if (column < N) {
        out[size_t(column) * M + row] = in[size_t(row) * N + column];
    }
}
