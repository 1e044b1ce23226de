// A scheduler reads registers from two banks, and runs out of reads in rung 09. Here its
// multiply-adds go row by row, there and back, so that each shares a factor with the one before it.
// That factor is kept (`.reuse` in SASS), and what is read is the other factor and the sum.
//
// What it should buy: the 2048 FFMAs of the loop of rung 09 read 2325 registers from the even bank
// in SASS, here 2136. Then the loop is as long as it has instructions, 2171, which is 7 % less.
//
// To ptxas, the order in a source is a mere proposal. It mixes multiply-adds of several steps of k,
// keeps fewer factors and moves others from register to register. But it moves no instruction past
// `griddepcontrol`, whatever that instruction is meant for. One stands between any two steps of k
// here: 16 issue slots for 2048 FFMAs.
//
// Nothing is transposed, so that all tiles come by cp.async: what a thread reads of A as a float4
// is a row's next four steps of k. All factors of a step are read while the step before is
// multiplied, also beyond a barrier.
//
// /// launch
// smallest_arch = "sm_90"
//
// [[launch]]
// kernel = "gemm<true>"
// when = "K % 4 == 0 and N % 4 == 0"
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
//
// [[launch]]
// kernel = "gemm<false>"
// when = "K % 4 != 0 or N % 4 != 0"
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
// ///

constexpr int BM = 128;  // rows of C that a block computes
constexpr int BN = 256;  // columns of C that a block computes
constexpr int BK = 16;   // steps of k between two barriers: four float4s of a row of A
constexpr int TM = 8;    // rows of C that a thread computes: every fourth
constexpr int TN = 16;   // columns of C that a thread computes: 4 of them, every 32 to the right
constexpr int V = 4;     // floats in a float4: columns of B, or steps of k in a row of A

// The warps of a block stand in a grid over its tile of C, and the 32 threads of a warp in a grid
// of 4 × 8 over the warp's.
constexpr int LANES_M = 4;
constexpr int LANES_N = 8;
constexpr int WM = LANES_M * TM;  // rows of C that a warp computes
constexpr int WN = LANES_N * TN;  // columns of C that a warp computes
constexpr int WARPS_M = BM / WM;
constexpr int WARPS_N = BN / WN;
constexpr int THREADS = WARPS_M * WARPS_N * 32;

// Where in shared memory rows of a tile of A begin. With 4 floats of padding, the four rows that a
// warp reads at a time lie in different banks: they begin in banks 0, 20, 8 and 28.
constexpr int A_LENGTH = BK + V;

constexpr int A_TILE = BM * A_LENGTH;  // floats of a tile of A in shared memory
constexpr int B_TILE = BK * BN;        // and of a tile of B

// Two pairs of tiles, 52 KiB: more than the 48 that a kernel may declare, so it is asked for at the
// launch.
constexpr int SHARED_BYTES = 2 * (A_TILE + B_TILE) * int(sizeof(float));

// Stores four floats into a row of `length` floats, from `column` on, and nothing beyond its end.
// ALIGNED: length is a multiple of 4, hence four floats are all inside or all outside, and can be
// stored as one.
template <bool ALIGNED>
__device__ void store_four(float* row, int column, int length, const float* four)
{
    if (ALIGNED) {
        if (column < length) {
            const float4 all = make_float4(four[0], four[1], four[2], four[3]);
            *reinterpret_cast<float4*>(row + column) = all;
        }
        return;
    }
    #pragma unroll
    for (int i = 0; i < V; ++i) {
        if (column + i < length) row[column + i] = four[i];
    }
}

// Four floats from shared memory in one load.
__device__ void read_four(float* to, const float* from)
{
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

// The next four steps of k of the thread's rows of A.
__device__ void read_a(float (&a)[TM][V], const float* from)
{
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        read_four(a[i], from + i * LANES_M * A_LENGTH);
    }
}

// One step of k of the thread's columns of B.
__device__ void read_b(float (&b)[TN], const float* from)
{
    #pragma unroll
    for (int j = 0; j < TN; j += V) {
        read_four(b + j, from + j * LANES_N);
    }
}

// Adds to the thread's outputs what a step of k contributes, the k-th in `a`. Every other row goes
// from right to left: it begins with the factor of B that the row before it has used last.
__device__ void multiply(float (&sum)[TM][TN], const float (&a)[TM][V], const float (&b)[TN], int k)
{
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        #pragma unroll
        for (int n = 0; n < TN; ++n) {
            const int j = i % 2 == 0 ? n : TN - 1 - n;
            sum[i][j] += a[i][k] * b[j];
        }
    }
}

// ptxas moves no instruction past this one. It says that this block has no objection to the start
// of the next grid, which counts only where that was launched so as to start early (programmatic
// dependent launch).
__device__ void keep_order()
{
    asm volatile("griddepcontrol.launch_dependents;");
}

// Starts to copy COUNT floats from global to shared memory, or writes zeros if they are not inside.
// Nobody waits: they arrive on their own.
template <int COUNT>
__device__ void copy_async(float* target, const float* source, bool inside)
{
    static_assert(COUNT == 1 || COUNT == 4, "4 or 16 bytes");
    const unsigned address = __cvta_generic_to_shared(target);
    const int given = inside ? COUNT * int(sizeof(float)) : 0;  // what is not given becomes zero
    if (COUNT == 1) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(source),
                     "r"(given)
                     : "memory");
    } else {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(source),
                     "r"(given)
                     : "memory");
    }
}

// Waits until all copies that this thread has started have arrived.
__device__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// Starts to copy a tile of A, BM rows from block_row × BK steps from k_start, with zeros beyond the
// edges. ALIGNED: K is a multiple of 4, so that float4s are all inside or all outside.
template <bool ALIGNED>
__device__ void start_a(float* tile, const float* A, int block_row, int k_start, int M, int K)
{
    constexpr int COUNT = ALIGNED ? V : 1;
    constexpr int STEP = THREADS * COUNT / BK;  // rows that the block copies at a time
    static_assert(THREADS * COUNT % BK == 0 && BM % STEP == 0, "every thread copies as much");
    const int row = threadIdx.x * COUNT / BK;
    const int k = threadIdx.x * COUNT % BK;
    const float* const source = A + size_t(block_row + row) * K + k_start + k;
    float* const target = tile + row * A_LENGTH + k;
    #pragma unroll
    for (int i = 0; i < BM; i += STEP) {
        copy_async<COUNT>(target + i * A_LENGTH, source + size_t(i) * K,
                          block_row + row + i < M && k_start + k < K);
    }
}

// Starts to copy a tile of B, BK steps from k_start × BN columns from block_column, with zeros
// beyond the edges. ALIGNED: N is a multiple of 4, so that float4s are all inside or all outside.
template <bool ALIGNED>
__device__ void start_b(float* tile, const float* B, int k_start, int block_column, int N, int K)
{
    constexpr int COUNT = ALIGNED ? V : 1;
    constexpr int STEP = THREADS * COUNT / BN;  // steps of k that the block copies at a time
    static_assert(THREADS * COUNT % BN == 0 && BK % STEP == 0, "every thread copies as much");
    const int k = threadIdx.x * COUNT / BN;
    const int column = threadIdx.x * COUNT % BN;
    const float* const source = B + size_t(k_start + k) * N + block_column + column;
    float* const target = tile + k * BN + column;
    #pragma unroll
    for (int i = 0; i < BK; i += STEP) {
        copy_async<COUNT>(target + i * BN, source + size_t(i) * N,
                          k_start + k + i < K && block_column + column < N);
    }
}

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N.
// ALIGNED: K and N are multiples of 4.
template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 1)
gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
     int M, int N, int K)
{
    extern __shared__ __align__(16) float shared[];
    float* const a_tiles = shared;               // two tiles of BM rows × BK steps of k
    float* const b_tiles = shared + 2 * A_TILE;  // two tiles of BK steps of k × BN columns

    const int tiles_across = (N + BN - 1) / BN;
    const int block_row = blockIdx.x / tiles_across * BM;     // first row of C of this block
    const int block_column = blockIdx.x % tiles_across * BN;  // and its first column

    // Where this thread stands in its warp: lanes 2·i and 2·i + 1 in two rows of the same column,
    // the upper half of the warp two rows below the lower.
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int lane_row = lane % 2 + lane / 16 * 2;
    const int lane_column = lane / 2 % 8;

    // What it computes: row thread_row and every fourth below, columns thread_column … + 3 and
    // every 32 to the right, TM · TN outputs in all.
    const int thread_row = warp / WARPS_N * WM + lane_row;
    const int thread_column = warp % WARPS_N * WN + lane_column * V;

    float sum[TM][TN] = {};
    float a[TM][V];  // of each row of A four steps of k
    float b[2][TN];  // of each column of B a step of k, and the next

    start_a<ALIGNED>(a_tiles, A, block_row, 0, M, K);
    start_b<ALIGNED>(b_tiles, B, 0, block_column, N, K);
    wait_for_copies();
    __syncthreads();  // the first pair of tiles is complete

    // Where this thread's rows and columns begin in the pair of tiles that is multiplied.
    const float* a_from = a_tiles + thread_row * A_LENGTH;
    const float* b_from = b_tiles + thread_column;
    read_a(a, a_from);
    read_b(b[0], b_from);

    const int tiles = (K + BK - 1) / BK;
    for (int tile = 0; tile < tiles; ++tile) {
        const bool more = tile + 1 < tiles;
        // The last tile is read once more, and not multiplied.
        const int next = more ? (tile + 1) % 2 : tile % 2;
        if (more) {
            start_a<ALIGNED>(a_tiles + next * A_TILE, A, block_row, (tile + 1) * BK, M, K);
            start_b<ALIGNED>(b_tiles + next * B_TILE, B, (tile + 1) * BK, block_column, N, K);
        }
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            keep_order();
            const float* a_ahead = a_from + k + 1;
            const float* b_ahead = b_from + (k + 1) * BN;
            if (k == BK - 1) {
                wait_for_copies();
                __syncthreads();  // the next pair is complete, and this one has been read
                a_ahead = a_from = a_tiles + next * A_TILE + thread_row * A_LENGTH;
                b_ahead = b_from = b_tiles + next * B_TILE + thread_column;
            }
            read_b(b[(k + 1) % 2], b_ahead);
            multiply(sum, a, b[k % 2], k % V);
            if (k % V == V - 1) {
                read_a(a, a_ahead);
            }
        }
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = block_row + thread_row + i * LANES_M;
        if (row < M) {
            #pragma unroll
            for (int j = 0; j < TN; j += V) {
                const int column = block_column + thread_column + j * LANES_N;
                store_four<ALIGNED>(C + size_t(row) * N, column, N, &sum[i][j]);
            }
        }
    }
}
