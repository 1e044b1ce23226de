// Wrong: y of the grid counts single rows, of which there may be more than 65,535.
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
