// Mistake: a thread walks down a column and fetches the element below ahead, in the last row too,
// where there is nothing below. The result is right. On a GPU the reads mostly go unnoticed, until
// the matrix ends where mapped memory ends.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, THREADS)"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 128;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int column = blockIdx.x * THREADS + threadIdx.x;
    if (column < N) {
        float element = in[column];
        for (int row = 0; row < M; ++row) {
            const float below = in[(row + 1) * N + column];
            out[column * M + row] = element;
            element = below;
        }
    }
}
