// Mistake: elements are moved rather than copied: each place of in is set to zero once it is read.
// The output is right, but in belongs to the caller.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

constexpr int BLOCK = 16;

extern "C" __global__ void transpose(float* in, float* out, int M, int N)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row < M && column < N) {
        out[column * M + row] = in[row * N + column];
        in[row * N + column] = 0.0f;
    }
}
