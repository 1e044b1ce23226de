// A thread computes 8 × 8 outputs, so that both operands are reused from registers. At each step of
// k it fetches 8 elements of A and 8 of B and multiplies every one with every other: 16 loads feed
// 64 multiply-adds.
//
// What it should buy: a quarter of a shared-memory load for a multiply-add where rung 03 needs 9/8,
// both in PTX, which moves the limit from shared memory towards the multiply-add units. The block's
// square of 128 × 128 halves the global sectors again, to M·N·K / 512. Fewer warps fit on a
// multiprocessor, and 64 independent sums make up for that.
//
// Sources: V. Volkov and J. Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008. S.
// Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance", 2022.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// ///

constexpr int BM = 128;  // rows of C that a block computes
constexpr int BN = 128;  // columns of C that a block computes
constexpr int BK = 8;    // steps of k between two barriers: 8 floats fill one sector of a row of A
constexpr int TM = 8;    // rows of C that a thread computes
constexpr int TN = 8;    // columns of C that a thread computes

// The threads of a block form a grid of THREADS_M × THREADS_N, 16 × 16, over its square of C. A
// thread's outputs do not touch: it owns every 16th row and every 16th column. Neighbouring threads
// then read neighbouring floats of b_tile, 16 different banks, where 8 columns side by side would
// put four threads on each of four banks.
constexpr int THREADS_M = BM / TM;
constexpr int THREADS_N = BN / TN;
constexpr int THREADS = THREADS_M * THREADS_N;

constexpr int A_LOADS = BM * BK / THREADS;  // floats of a tile of A that a thread brings in: 4
constexpr int B_LOADS = BK * BN / THREADS;  // and of a tile of B: 4

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
// The 2 asks for two blocks on a multiprocessor, that is for at most 65,536 / 512 = 128 registers a
// thread: one block computes while the other waits for global memory.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
     int M, int N, int K)
{
    __shared__ float a_tile[BM][BK];  // BM rows of A × BK steps of k
    __shared__ float b_tile[BK][BN];  // BK steps of k × BN columns of B

    const int tiles_across = (N + BN - 1) / BN;
    const int block_row = blockIdx.x / tiles_across * BM;     // first row of C of this block
    const int block_column = blockIdx.x % tiles_across * BN;  // and its first column

    // This thread's rows are thread_row + i · THREADS_M, its columns thread_column + j · THREADS_N.
    const int thread_row = threadIdx.x / THREADS_N;
    const int thread_column = threadIdx.x % THREADS_N;

    float sum[TM][TN] = {};
    for (int k_start = 0; k_start < K; k_start += BK) {
        // Consecutive threads take consecutive floats of a tile, row after row; zeros beyond the
        // edges.
        #pragma unroll
        for (int load = 0; load < A_LOADS; ++load) {
            const int row = (threadIdx.x + load * THREADS) / BK;
            const int k = (threadIdx.x + load * THREADS) % BK;
            a_tile[row][k] = block_row + row < M && k_start + k < K
                                 ? A[size_t(block_row + row) * K + k_start + k]
                                 : 0.0f;
        }
        #pragma unroll
        for (int load = 0; load < B_LOADS; ++load) {
            const int k = (threadIdx.x + load * THREADS) / BN;
            const int column = (threadIdx.x + load * THREADS) % BN;
            b_tile[k][column] = k_start + k < K && block_column + column < N
                                    ? B[size_t(k_start + k) * N + block_column + column]
                                    : 0.0f;
        }
        __syncthreads();  // both tiles are complete

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM];
            float b[TN];
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                a[i] = a_tile[thread_row + i * THREADS_M][k];
            }
            #pragma unroll
            for (int j = 0; j < TN; ++j) {
                b[j] = b_tile[k][thread_column + j * THREADS_N];
            }
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                #pragma unroll
                for (int j = 0; j < TN; ++j) {
                    sum[i][j] += a[i] * b[j];
                }
            }
        }
        __syncthreads();  // both tiles have been read
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int row = block_row + thread_row + i * THREADS_M;
            const int column = block_column + thread_column + j * THREADS_N;
            if (row < M && column < N) {
                C[size_t(row) * N + column] = sum[i][j];
            }
        }
    }
}
