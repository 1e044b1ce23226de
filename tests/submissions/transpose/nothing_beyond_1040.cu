// Wrong: large matrices are left as they are. The cases that topic.toml lists are all smaller.
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
    if (M > 1040 || N > 1040) {
        return;
    }
    if (row < M && column < N) {
        out[size_t(column) * M + row] = in[size_t(row) * N + column];
    }
}
