// A block computes 64 × 64 outputs from tiles in shared memory. A
// thread has 4 × 4 outputs, 16 apart in either direction.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, SIDE) * cdiv(N, SIDE)"]
// block = ["ACROSS", "ACROSS"]
// ///

constexpr int SIDE = 64;  // rows and columns of C a block
constexpr int BK = 16;    // steps of k between two barriers
constexpr int EACH = 4;   // rows and columns of C a thread
constexpr int ACROSS = SIDE / EACH;
constexpr int THREADS = ACROSS * ACROSS;

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
extern "C" __global__ void gemm(const float* __restrict__ A,
                                const float* __restrict__ B,
                                float* __restrict__ C, int M, int N,
                                int K)
{
    __shared__ float
        a[BK][SIDE + 1];  // turned: a column of A is a row of it
    __shared__ float b[BK][SIDE];

    const int across = (N + SIDE - 1) / SIDE;
    const int top = blockIdx.x / across * SIDE;
    const int left = blockIdx.x % across * SIDE;
    const int t = threadIdx.y * ACROSS + threadIdx.x;

    float sum[EACH][EACH] = {};
    for (int start = 0; start < K; start += BK) {
        for (int i = t; i < SIDE * BK; i += THREADS) {
            const int r = top + i / BK, k = start + i % BK;
            a[i % BK][i / BK] =
                r < M && k < K ? A[size_t(r) * K + k] : 0.0f;
        }
        for (int i = t; i < SIDE * BK; i += THREADS) {
            const int k = start + i / SIDE, c = left + i % SIDE;
            b[i / SIDE][i % SIDE] =
                k < K && c < N ? B[size_t(k) * N + c] : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float above[EACH], beside[EACH];
            #pragma unroll
            for (int i = 0; i < EACH; ++i) {
                above[i] = a[k][threadIdx.y + i * ACROSS];
                beside[i] = b[k][threadIdx.x + i * ACROSS];
            }
            #pragma unroll
            for (int i = 0; i < EACH; ++i) {
                #pragma unroll
                for (int j = 0; j < EACH; ++j) {
                    sum[i][j] += above[i] * beside[j];
                }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; ++i) {
        for (int j = 0; j < EACH; ++j) {
            const int row = top + threadIdx.y + i * ACROSS,
                      column = left + threadIdx.x + j * ACROSS;
            if (row < M && column < N) {
                C[size_t(row) * N + column] = sum[i][j];
            }
        }
    }
}
