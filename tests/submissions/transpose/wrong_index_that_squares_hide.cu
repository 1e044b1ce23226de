// Mistake: the row lengths are exchanged: a row of out is taken to be N long and one of in M long.
// Every index stays inside, and square matrices, which most people test with, come out right.
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
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row < M && column < N) {
        out[row * N + column] = in[column * M + row];
    }
}
