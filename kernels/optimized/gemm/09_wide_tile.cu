// A thread computes 8 × 16 outputs, a warp 32 × 128, a block 128 × 256: one block fills a
// multiprocessor. At each step of k 24 floats feed 128 multiply-adds, where 16 fed 64.
//
// What it should buy: 12 wavefronts for 128 multiply-adds, where rung 06 takes 8 for 64, in PTX as
// in SASS; so shared memory is busy for little more than a third of the time, and more issue slots
// go to multiply-adds. Global sectors fall to M·N·K / 682.
//
// 128 sums and their operands take most of the 255 registers that a thread can have. There are two
// warps a scheduler then, and all the independence comes from within them. What is fetched goes the
// way that costs fewer instructions: tiles of B by cp.async, 16 bytes at a time; those of A by way
// of registers, as they are transposed, and a float4 is one load where cp.async would take four.
//
// /// launch
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
constexpr int TM = 8;    // rows of C that a thread computes: 4 of them and 4 more 16 rows below
constexpr int TN = 16;   // columns of C that a thread computes: 4 of them, every 32 to the right
constexpr int V = 4;     // floats in a float4

// The warps of a block stand in a grid over its tile of C, and the 32 threads of a warp in a grid
// of 4 × 8 over the warp's.
constexpr int LANES_M = 4;
constexpr int LANES_N = 8;
constexpr int WM = LANES_M * TM;  // rows of C that a warp computes
constexpr int WN = LANES_N * TN;  // columns of C that a warp computes
constexpr int WARPS_M = BM / WM;
constexpr int WARPS_N = BN / WN;
constexpr int THREADS = WARPS_M * WARPS_N * 32;

constexpr int A_LOADS = BM * BK / V / THREADS;  // float4s of a tile of A that a thread brings in: 2

// Where in a transposed tile of A a step of k begins. Each step has 4 floats of padding, and there
// are 8 more between the first eight steps and the others. A warp that writes 8 rows of A at four
// places of k, 4 apart, then has them in different banks: they begin in banks 0, 16, 8 and 24.
constexpr int A_LENGTH = BM + 4;
__device__ constexpr int a_place(int k)
{
    return k * A_LENGTH + k / 8 * 8;
}

constexpr int A_TILE = a_place(BK);  // floats of a tile of A in shared memory
constexpr int B_TILE = BK * BN;      // and of a tile of B

// Two pairs of tiles, 48.6 KiB: more than the 48 that a kernel may declare, so it is asked for at
// the launch.
constexpr int SHARED_BYTES = 2 * (A_TILE + B_TILE) * int(sizeof(float));

// Four floats of a row of `length` floats, from `column` on, with zeros beyond the end of the row.
// ALIGNED: length is a multiple of 4, hence four floats are all inside or all outside, and can be
// loaded as one.
template <bool ALIGNED>
__device__ float4 load_four(const float* row, int column, int length)
{
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (ALIGNED) {
        if (column < length) {
            four = *reinterpret_cast<const float4*>(row + column);
        }
        return four;
    }
    if (column + 0 < length) four.x = row[column + 0];
    if (column + 1 < length) four.y = row[column + 1];
    if (column + 2 < length) four.z = row[column + 2];
    if (column + 3 < length) four.w = row[column + 3];
    return four;
}

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
            read_four(a + i, a_tile + a_place(k) + thread_row + i * LANES_M);
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

// Waits until all copies that this thread has started have arrived.
__device__ void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// The float4s of a tile of A that a thread brings in, on their way from global to shared memory.
template <bool ALIGNED>
struct StagedA {
    float4 fours[A_LOADS];

    // Loads them, with zeros beyond the edges. Consecutive threads take consecutive float4s of a
    // tile, row after row.
    __device__ void load(const float* A, int block_row, int k_start, int M, int K)
    {
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
            const int row = block_row + (threadIdx.x + i * THREADS) / (BK / V);
            const int k = k_start + (threadIdx.x + i * THREADS) % (BK / V) * V;
            fours[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (row < M) {
                fours[i] = load_four<ALIGNED>(A + size_t(row) * K, k, K);
            }
        }
    }

    // Lays them down in shared memory, transposed.
    __device__ void store(float* tile) const
    {
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
            const int row = (threadIdx.x + i * THREADS) / (BK / V);
            const int k = (threadIdx.x + i * THREADS) % (BK / V) * V;
            float* const to = tile + a_place(k) + row;
            to[0 * A_LENGTH] = fours[i].x;
            to[1 * A_LENGTH] = fours[i].y;
            to[2 * A_LENGTH] = fours[i].z;
            to[3 * A_LENGTH] = fours[i].w;
        }
    }
};

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
    float* const a_tiles = shared;               // two tiles of BK steps of k × BM rows
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

    // What it computes: rows thread_row … + 3 and every 16 below, columns thread_column … + 3 and
    // every 32 to the right, TM · TN outputs in all.
    const int thread_row = warp / WARPS_N * WM + lane_row * V;
    const int thread_column = warp % WARPS_N * WN + lane_column * V;

    float sum[TM][TN] = {};
    StagedA<ALIGNED> staged;
    start_b<ALIGNED>(b_tiles, B, 0, block_column, N, K);
    staged.load(A, block_row, 0, M, K);
    staged.store(a_tiles);
    wait_for_copies();
    __syncthreads();  // the first pair of tiles is complete

    const int tiles = (K + BK - 1) / BK;
    for (int tile = 0; tile < tiles; ++tile) {
        const int now = tile % 2;
        const int next = 1 - now;
        const bool more = tile + 1 < tiles;
        if (more) {
            start_b<ALIGNED>(b_tiles + next * B_TILE, B, (tile + 1) * BK, block_column, N, K);
            staged.load(A, block_row, (tile + 1) * BK, M, K);
        }
        multiply(sum, a_tiles + now * A_TILE, b_tiles + now * B_TILE, thread_row, thread_column);
        if (more) {
            staged.store(a_tiles + next * A_TILE);
        }
        wait_for_copies();
        __syncthreads();  // the next pair is complete, and this one has been read
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
