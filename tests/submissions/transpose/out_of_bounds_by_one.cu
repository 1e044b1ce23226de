// Mistake: <= for <. One thread a place of out, and one more than there are places: it writes just
// behind the end of the matrix.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M * N, THREADS) + 1"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 256;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i <= M * N) {
        const int row = i % M;
        const int column = i / M % N;
        out[i] = in[row * N + column];
    }
}
