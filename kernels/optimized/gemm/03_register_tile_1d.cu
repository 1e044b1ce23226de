// A thread now computes a column of 8 outputs instead of one, and keeps the 8 sums in registers.
// The element of B that it fetches from shared memory serves 8 multiply-adds; only the elements of
// A are still fetched one for one.
//
// What it should buy: in PTX 9 shared-memory loads for 8 multiply-adds where rung 02 needs 16. The
// square of C that a block computes grows to 64 × 64 as well, which halves the sectors from global
// memory to M·N·K / 256.
//
// Source: S. Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance", 2022.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// ///

constexpr int BM = 64;  // rows of C that a block computes
constexpr int BN = 64;  // columns of C that a block computes; two warps wide
constexpr int BK = 8;   // steps of k between two barriers: 8 floats fill one sector of a row of A
constexpr int TM = 8;   // rows of C that a thread computes, one below the other

// Threads of a block, 512. Each brings in exactly one float of either tile, which needs the
// equalities below.
constexpr int THREADS = (BM / TM) * BN;
static_assert(THREADS == BM * BK && THREADS == BK * BN, "one float of each tile a thread");

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
     int M, int N, int K)
{
    __shared__ float a_tile[BM][BK];  // BM rows of A × BK steps of k
    __shared__ float b_tile[BK][BN];  // BK steps of k × BN columns of B

    const int tiles_across = (N + BN - 1) / BN;
    const int block_row = blockIdx.x / tiles_across * BM;     // first row of C of this block
    const int block_column = blockIdx.x % tiles_across * BN;  // and its first column

    // What this thread computes: TM rows of one column. A warp shares its rows and has 32
    // neighbouring columns, so its loads of a_tile are one address and its loads of b_tile touch
    // each bank once.
    const int thread_row = threadIdx.x / BN * TM;
    const int thread_column = threadIdx.x % BN;

    // What this thread brings in: one float of the tile of A and one of the tile of B.
    const int a_row = threadIdx.x / BK;
    const int a_column = threadIdx.x % BK;
    const int b_row = threadIdx.x / BN;
    const int b_column = threadIdx.x % BN;

    // Where the floats that this thread brings in lie at k_start = 0.
    const float* const a_source = A + size_t(block_row + a_row) * K + a_column;
    const float* const b_source = B + size_t(b_row) * N + block_column + b_column;
    const bool a_inside = block_row + a_row < M;
    const bool b_inside = block_column + b_column < N;

    // Every loop over the sums is unrolled: registers have no addresses, so an index that is known
    // only at run time would push the array out into memory.
    float sum[TM] = {};
    for (int k_start = 0; k_start < K; k_start += BK) {
        a_tile[a_row][a_column] = a_inside && k_start + a_column < K ? a_source[k_start] : 0.0f;
        b_tile[b_row][b_column] =
            b_inside && k_start + b_row < K ? b_source[size_t(k_start) * N] : 0.0f;
        __syncthreads();  // both tiles are complete

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            const float b = b_tile[k][thread_column];  // fetched once, used TM times
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                sum[i] += a_tile[thread_row + i][k] * b;
            }
        }
        __syncthreads();  // both tiles have been read
    }

    const int column = block_column + thread_column;
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = block_row + thread_row + i;
        if (row < M && column < N) {
            C[size_t(row) * N + column] = sum[i];
        }
    }
}
