// The same work with the two thread indices exchanged: threadIdx.x now walks the columns, so the 32
// threads of a warp stand beside one another. Not one multiplication more or less is done.
//
// What it should buy: the warp's load of B covers 32 neighbouring floats, which is 128 bytes or 4
// full sectors, and its load of A is one address, 1 sector. That makes 5 sectors for 32
// multiply-adds where there were 33, in the same number of requests. The store of C becomes 4
// sectors instead of 32.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, BLOCK) * cdiv(N, BLOCK)"]
// block = ["BLOCK", "BLOCK"]
// ///

// A block of BLOCK × BLOCK threads computes a square of BLOCK × BLOCK elements of C; a warp is one
// row of it.
constexpr int BLOCK = 32;

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
extern "C" __global__ void gemm(const float* __restrict__ A, const float* __restrict__ B,
                                float* __restrict__ C, int M, int N, int K)
{
    const int squares_across = (N + BLOCK - 1) / BLOCK;
    const int row = blockIdx.x / squares_across * BLOCK + threadIdx.y;
    const int column = blockIdx.x % squares_across * BLOCK + threadIdx.x;
    if (row >= M || column >= N) {
        return;
    }

    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    }
    C[size_t(row) * N + column] = sum;
}
