// Wrong: an index passes through a float, which has every whole number up to 2^24 and every other
// one beyond.
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
        out[static_cast<size_t>(float(column) * M + row)] = in[size_t(row) * N + column];
    }
}
