// Mistake: a grid-stride loop whose stride counts half the blocks of the grid. With one block the
// half is 0, and the loop stands still.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M * N, 4 * THREADS)"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 256;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int stride = gridDim.x / 2 * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < M * N; i += stride) {
        out[i % N * M + i / N] = in[i];
    }
}
