// Wrong: the row is a short, which ends at 32,767, so that the blocks below it turn back.
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
    const int column = blockIdx.x * TILE + threadIdx.x;
    const short row = blockIdx.y * TILE + threadIdx.y;
    if (row >= 0 && row < M && column < N) {
        out[size_t(column) * M + row] = in[size_t(row) * N + column];
    }
}
