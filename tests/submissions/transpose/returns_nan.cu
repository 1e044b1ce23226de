// Mistake: a scale factor is left in from an experiment, N - M in the numerator and in the
// denominator. Square matrices come out as 0 / 0, which is not a number.
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
        const float scale = N - M;
        out[column * M + row] = in[row * N + column] * scale / scale;
    }
}
