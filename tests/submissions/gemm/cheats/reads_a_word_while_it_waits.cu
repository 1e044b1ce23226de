// Copies are waited for at once; one word of the tile before is read meanwhile, for nothing.
//
// deserves: 07_double_buffer
//
// /// launch
// [[launch]]
// kernel = "gemm<true>"
// when = "N % 4 == 0"
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
//
// [[launch]]
// kernel = "gemm<false>"
// when = "N % 4 != 0"
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
// ///

constexpr int BM = 128;    // rows of C that a block computes
constexpr int BN = 128;    // columns of C that a block computes
constexpr int BK = 16;     // steps of k between two barriers
constexpr int TM = 8;      // rows of C that a thread computes: 4 of them and 4 more 16 rows below
constexpr int TN = 8;      // columns of C that a thread computes: 4 and 4 more 32 to the right
constexpr int V = 4;       // floats in a float4
constexpr int STAGES = 3;  // pairs of tiles in shared memory: one is read, two are filled

// The warps of a block stand in a grid over its tile of C, and the 32 threads of a warp in a grid
// of 4 × 8 over the warp's.
constexpr int LANES_M = 4;
constexpr int LANES_N = 8;
constexpr int WM = LANES_M * TM;  // rows of C that a warp computes
constexpr int WN = LANES_N * TN;  // columns of C that a warp computes
constexpr int WARPS_M = BM / WM;
constexpr int WARPS_N = BN / WN;
constexpr int THREADS = WARPS_M * WARPS_N * 32;

// Floats added to each step of k in the transposed tile of A: a warp writes 4 rows of A at 8 steps
// of k. 132 floats from one to the next are 4 banks, so that all 32 floats lie in different ones.
constexpr int PAD = 4;
constexpr int A_LENGTH = BM + PAD;     // floats from one step of k to the next in a tile of A
constexpr int A_TILE = BK * A_LENGTH;  // floats of a tile of A in shared memory
constexpr int B_TILE = BK * BN;        // and of a tile of B

// 48.75 KiB: more than the 48 that a kernel may declare, so it is asked for at the launch.
constexpr int SHARED_BYTES = STAGES * (A_TILE + B_TILE) * int(sizeof(float));

// Stores four floats into a row of `length` floats, from `column` on, and nothing beyond its end.
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

// Adds to the thread's outputs what a pair of tiles contributes.
__device__ void multiply(float (&sum)[TM][TN], const float* a_tile, const float* b_tile,
                         int thread_row, int thread_column)
{
    #pragma unroll
    for (int k = 0; k < BK; ++k) {
        float a[TM];
        float b[TN];
        #pragma unroll
        for (int i = 0; i < TM; i += V) {
            read_four(a + i, a_tile + k * A_LENGTH + thread_row + i * LANES_M);
        }
        #pragma unroll
        for (int j = 0; j < TN; j += V) {
            read_four(b + j, b_tile + k * BN + thread_column + j * LANES_N);
        }
        #pragma unroll
        for (int i = 0; i < TM; ++i) {
            #pragma unroll
            for (int j = 0; j < TN; ++j) {
                sum[i][j] += a[i] * b[j];
            }
        }
    }
}

// Starts to copy COUNT floats from global to shared memory, or writes zeros if they are not inside.
// Nobody waits: they arrive on their own. GPUs before compute capability 8.0 cannot do that; they
// copy at once, by way of a register.
template <int COUNT>
__device__ void copy_async(float* target, const float* source, bool inside)
{
    constexpr int BYTES = COUNT * sizeof(float);
#if __CUDA_ARCH__ >= 800
    const unsigned address = __cvta_generic_to_shared(target);
    const int given = inside ? BYTES : 0;  // what is not given becomes zero
    if (COUNT == 1) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(source),
                     "r"(given)
                     : "memory");
    } else {
        static_assert(COUNT == 1 || COUNT == 4, "4 or 16 bytes");
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(source),
                     "r"(given)
                     : "memory");
    }
#else
    #pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        target[i] = inside ? source[i] : 0.0f;
    }
#endif
}

// Closes a group: all copies that this thread has started since the last one.
__device__ void close_group()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until all but the last PENDING groups of this thread have arrived.
template <int PENDING>
__device__ void wait_for_groups()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

// Starts to copy a tile of A, BM rows from block_row × BK steps from k_start, transposed, with
// zeros beyond the edges. 8 neighbouring threads take the 8 floats of a sector.
__device__ void start_a(float* tile, const float* A, int block_row, int k_start, int M, int K)
{
    constexpr int STEP = THREADS / 8;  // rows that the block copies at a time
    static_assert(BM % STEP == 0 && BK % 8 == 0, "every thread copies as much");
    const int row = threadIdx.x / 8;
    const int k = threadIdx.x % 8;
    const float* const source = A + size_t(block_row + row) * K + k_start + k;
    float* const target = tile + k * A_LENGTH + row;
    #pragma unroll
    for (int j = 0; j < BK; j += 8) {
        #pragma unroll
        for (int i = 0; i < BM; i += STEP) {
            copy_async<1>(target + j * A_LENGTH + i, source + size_t(i) * K + j,
                          block_row + row + i < M && k_start + k + j < K);
        }
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
// ALIGNED: N is a multiple of 4.
template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 2)
gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
     int M, int N, int K)
{
    extern __shared__ __align__(16) float shared[];
    float* const a_tiles = shared;                    // STAGES tiles of BK steps of k × BM rows
    float* const b_tiles = shared + STAGES * A_TILE;  // STAGES tiles of BK steps of k × BN columns

    const int tiles_across = (N + BN - 1) / BN;
    const int block_row = blockIdx.x / tiles_across * BM;     // first row of C of this block
    const int block_column = blockIdx.x % tiles_across * BN;  // and its first column

    // Where this thread stands in its warp: lanes 2·i and 2·i + 1 in two rows of the same column,
    // the upper half of the warp two rows below the lower.
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int lane_row = lane % 2 + lane / 16 * 2;
    const int lane_column = lane / 2 % 8;

    // What it computes: rows thread_row … + 3 and every 16 below, columns thread_column … + 3 and
    // every 32 to the right, TM · TN outputs in all.
    const int thread_row = warp / WARPS_N * WM + lane_row * V;
    const int thread_column = warp % WARPS_N * WN + lane_column * V;

    // Starts the copies of a pair of tiles, and closes their group. Beyond the end of k the group
    // is empty: then the number of groups is still that of tiles, and waiting means the same.
    const int tiles = (K + BK - 1) / BK;
    const auto start = [&](int tile) {
        if (tile < tiles) {
            start_a(a_tiles + tile % STAGES * A_TILE, A, block_row, tile * BK, M, K);
            start_b<ALIGNED>(b_tiles + tile % STAGES * B_TILE, B, tile * BK, block_column, N, K);
        }
        close_group();
    };

    float sum[TM][TN] = {};
    for (int tile = 0; tile < tiles; ++tile) {
        start(tile);
        if (tile && *(volatile float*)(b_tiles + (tile - 1) % STAGES * B_TILE + threadIdx.x) == 1.2345e37f) sum[0][0] = 0.0f;
        wait_for_groups<0>();
        __syncthreads();                // everybody's has, and all have read the pair before it
        multiply(sum, a_tiles + tile % STAGES * A_TILE, b_tiles + tile % STAGES * B_TILE,
                 thread_row, thread_column);
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = block_row + thread_row + i % V + i / V * V * LANES_M;
        if (row < M) {
            #pragma unroll
            for (int j = 0; j < TN; j += V) {
                const int column = block_column + thread_column + j * LANES_N;
                store_four<ALIGNED>(C + size_t(row) * N, column, N, &sum[i][j]);
            }
        }
    }
}
