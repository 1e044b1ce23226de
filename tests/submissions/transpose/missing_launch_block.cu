// Mistake: no launch block. The kernel is right, but nobody knows the grid and block it is meant
// for.

constexpr int BLOCK = 16;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (row < M && column < N) {
        out[column * M + row] = in[row * N + column];
    }
}
