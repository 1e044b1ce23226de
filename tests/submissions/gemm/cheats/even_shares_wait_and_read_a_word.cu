// Rung 11, but copies are waited for as soon as they are begun; a word is read meanwhile, for nothing.
//
// deserves: 07_double_buffer
//
// /// launch
// smallest_arch = "sm_90"
//
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["SMS", "BM * BN"]
//
// [[scratch]]
// name = "a"
// dtype = "float32"
// shape = ["M", "cdiv(K, V) * V"]
//
// [[scratch]]
// name = "b"
// dtype = "float32"
// shape = ["K", "cdiv(N, V) * V"]
//
// [[launch]]
// kernel = "align"
// when = "K % V > 0"
// args = ["A", "a", "M", "K"]
// grid = ["cdiv(M * cdiv(K, V), THREADS)"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "align"
// when = "N % V > 0"
// args = ["B", "b", "K", "N"]
// grid = ["cdiv(K * cdiv(N, V), THREADS)"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "gemm<true, true>"
// when = "K % V == 0 and N % V == 0"
// args = ["A", "B", "C", "parts", "M", "N", "K", "SMS"]
// grid = ["min(cdiv(M, BM) * cdiv(N, BN), SMS)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
//
// [[launch]]
// kernel = "gemm<false, true>"
// when = "K % V > 0 and N % V == 0"
// args = ["a", "B", "C", "parts", "M", "N", "K", "SMS"]
// grid = ["min(cdiv(M, BM) * cdiv(N, BN), SMS)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
//
// [[launch]]
// kernel = "gemm<true, false>"
// when = "K % V == 0 and N % V > 0"
// args = ["A", "b", "C", "parts", "M", "N", "K", "SMS"]
// grid = ["min(cdiv(M, BM) * cdiv(N, BN), SMS)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
//
// [[launch]]
// kernel = "gemm<false, false>"
// when = "K % V > 0 and N % V > 0"
// args = ["a", "b", "C", "parts", "M", "N", "K", "SMS"]
// grid = ["min(cdiv(M, BM) * cdiv(N, BN), SMS)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
//
// [[launch]]
// kernel = "add_parts"
// when = "cdiv(M, BM) * cdiv(N, BN) > SMS and cdiv(M, BM) * cdiv(N, BN) % SMS > 0"
// args = ["parts", "C", "M", "N", "K", "SMS"]
// grid = ["cdiv(M, BM) * cdiv(N, BN) % SMS", "BM // ADD_ROWS"]
// block = ["BN"]
// ///

constexpr int BM = 128;  // rows of C that a block computes
constexpr int BN = 256;  // columns of C that a block computes
constexpr int BK = 32;   // steps of k between two barriers: eight float4s of a row of A
constexpr int BODY = 8;  // steps of k in the body of the inner loop: 1024 FFMAs, 17 KiB of SASS
constexpr int TM = 8;    // rows of C that a thread computes: every fourth
constexpr int TN = 16;   // columns of C that a thread computes: 4 of them, every 32 to the right
constexpr int V = 4;     // floats in a float4: columns of B, or steps of k in a row of A

constexpr int STAGES = 3;     // pairs of tiles in shared memory: one is read, two are filled
constexpr int ADD_ROWS = 16;  // rows of a tile that a block of the second launch adds

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
// warp reads at a time lie in different banks: they begin in banks 0, 4, 8 and 12.
constexpr int A_LENGTH = BK + V;

constexpr int A_TILE = BM * A_LENGTH;  // floats of a tile of A in shared memory
constexpr int B_TILE = BK * BN;        // and of a tile of B
constexpr int STAGE = A_TILE + B_TILE;

// 150 KiB: more than the 48 that a kernel may declare, so it is asked for at the launch.
constexpr int SHARED_BYTES = STAGES * STAGE * int(sizeof(float));

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

// Adds to a row of the thread's outputs what a step of k contributes, the k-th in `a`. Every other
// row goes from right to left: it begins with the factor of B that the row before it has used last.
__device__ void multiply_row(float (&sum)[TM][TN], const float (&a)[TM][V], const float (&b)[TN],
                             int i, int k)
{
    #pragma unroll
    for (int n = 0; n < TN; ++n) {
        const int j = i % 2 == 0 ? n : TN - 1 - n;
        sum[i][j] += a[i][k] * b[j];
    }
}

// All rows of a step.
__device__ void multiply(float (&sum)[TM][TN], const float (&a)[TM][V], const float (&b)[TN], int k)
{
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        multiply_row(sum, a, b, i, k);
    }
}

// The same, and reads the factors of B of the next step: four columns behind each of the rows from
// READ_ROW on.
__device__ void multiply_and_read(float (&sum)[TM][TN], const float (&a)[TM][V],
                                  const float (&b)[TN], int k, float (&b_next)[TN],
                                  const float* from)
{
    // Early enough for the next step; behind rows in the middle, fewest registers are read in SASS.
    constexpr int READ_ROW = 2;
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        multiply_row(sum, a, b, i, k);
        const int j = (i - READ_ROW) * V;
        if (j >= 0 && j < TN) {
            read_four(b_next + j, from + j * LANES_N);
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

// Starts to copy four floats from global to shared memory, or writes zeros if they are not inside.
// Nobody waits: they arrive on their own.
__device__ void copy_async(float* target, const float* source, bool inside)
{
    const unsigned address = __cvta_generic_to_shared(target);
    const int given = inside ? V * int(sizeof(float)) : 0;  // what is not given becomes zero
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(source),
                 "r"(given)
                 : "memory");
}

// What this thread has started to copy since the last call is a group.
__device__ void end_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all groups of this thread have arrived but the last COUNT.
template <int COUNT>
__device__ void wait_for_all_but()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(COUNT) : "memory");
}

// Starts to copy a tile of A, BM rows from block_row × BK steps from k_start, with zeros beyond
// edges. `length` is a row's, a multiple of 4, so that float4s are all inside or all outside.
__device__ void start_a(float* tile, const float* A, int block_row, int k_start, int M, int length)
{
    constexpr int STEP = THREADS * V / BK;  // rows that the block copies at a time
    static_assert(THREADS * V % BK == 0 && BM % STEP == 0, "every thread copies as much");
    const int row = threadIdx.x * V / BK;
    const int k = threadIdx.x * V % BK;
    const float* const source = A + size_t(block_row + row) * length + k_start + k;
    float* const target = tile + row * A_LENGTH + k;
    #pragma unroll
    for (int i = 0; i < BM; i += STEP) {
        copy_async(target + i * A_LENGTH, source + size_t(i) * length,
                   block_row + row + i < M && k_start + k < length);
    }
}

// Starts to copy a tile of B, BK steps from k_start × BN columns from block_column, with zeros
// beyond the edges. `length` is a row's, a multiple of 4.
__device__ void start_b(float* tile, const float* B, int k_start, int block_column, int K,
                        int length)
{
    constexpr int STEP = THREADS * V / BN;  // steps of k that the block copies at a time
    static_assert(THREADS * V % BN == 0 && BK % STEP == 0, "every thread copies as much");
    const int k = threadIdx.x * V / BN;
    const int column = threadIdx.x * V % BN;
    const float* const source = B + size_t(k_start + k) * length + block_column + column;
    float* const target = tile + k * BN + column;
    #pragma unroll
    for (int i = 0; i < BK; i += STEP) {
        copy_async(target + i * BN, source + size_t(i) * length,
                   k_start + k + i < K && block_column + column < length);
    }
}

// How the tiles of C are dealt out to blocks.
struct Schedule {
    int across;     // tiles side by side
    int whole;      // tiles that a block computes alone: the first ones, full waves of them
    int steps;      // of k in a tile, BK each
    int shares;     // a multiprocessor each
    long long all;  // steps of the tiles that are left, which are dealt out in shares

    __device__ Schedule(int M, int N, int K, int multiprocessors)
    {
        across = (N + BN - 1) / BN;
        const int tiles = (M + BM - 1) / BM * across;
        whole = tiles < multiprocessors ? tiles : tiles / multiprocessors * multiprocessors;
        steps = (K + BK - 1) / BK;
        shares = multiprocessors;
        all = (long long)(tiles - whole) * steps;
    }

    // The first step of a share; the last one ends where all end.
    __device__ long long begin(int share) const
    {
        return all * share / shares;
    }

    // The first share that begins behind a step.
    __device__ int share_behind(long long step) const
    {
        return int(((step + 1) * shares + all - 1) / all);
    }
};

// The next multiple of 4: the length of a row that has been aligned.
__host__ __device__ constexpr int aligned(int length)
{
    return (length + V - 1) / V * V;
}

// Copies rows of `length` floats to rows whose length is a multiple of 4, with zeros behind them. A
// thread fills one float4.
__global__ void __launch_bounds__(THREADS)
align(const float* __restrict__ from, float* __restrict__ to, int rows, int length)
{
    const int across = aligned(length) / V;
    const size_t i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const int row = int(i / across);
    const int column = int(i % across) * V;
    if (row >= rows) {
        return;
    }
    const float* const source = from + size_t(row) * length + column;
    float four[V];
    #pragma unroll
    for (int j = 0; j < V; ++j) {
        four[j] = column + j < length ? source[j] : 0.0f;
    }
    store_four<true>(to + size_t(row) * aligned(length), column, aligned(length), four);
}

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N. `parts` has a tile for each share.
// EVEN_K: K is a multiple of 4; else rows of A have been aligned. EVEN_N: so is N, or rows of B have.
template <bool EVEN_K, bool EVEN_N>
__global__ void __launch_bounds__(THREADS, 1)
gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
     float* __restrict__ parts, int M, int N, int K, int multiprocessors)
{
    const int a_length = EVEN_K ? K : aligned(K);  // of a row of A
    const int b_length = EVEN_N ? N : aligned(N);  // and of B
    extern __shared__ __align__(16) float shared[];  // STAGES times a tile of A and one of B

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

    // What is left for this block: a tile of each full wave, from `whole_tile` on, and its share,
    // from `step` to `end`.
    const Schedule schedule(M, N, K, multiprocessors);
    int whole_tile = blockIdx.x;
    long long step = schedule.begin(blockIdx.x);
    const long long end = schedule.begin(blockIdx.x + 1);

    while (whole_tile < schedule.whole || step < end) {
        int tile_of_c = whole_tile;
        int first = 0;               // step of the tile that this block begins with
        int tiles = schedule.steps;  // of A and of B that it multiplies
        if (whole_tile < schedule.whole) {
            whole_tile += gridDim.x;
        } else {
            tile_of_c = schedule.whole + int(step / schedule.steps);
            first = int(step % schedule.steps);
            tiles = int(min((long long)(schedule.steps - first), end - step));
            step += tiles;
        }
        const int block_row = tile_of_c / schedule.across * BM;     // its first row of C
        const int block_column = tile_of_c % schedule.across * BN;  // and its first column

        float sum[TM][TN] = {};
        float a[TM][V];  // of each row of A four steps of k
        float b[2][TN];  // of each column of B a step of k, and the next

        #pragma unroll
        for (int stage = 0; stage < STAGES - 1; ++stage) {
            if (stage < tiles) {
                const int k_start = (first + stage) * BK;
                start_a(shared + stage * STAGE, A, block_row, k_start, M, a_length);
                start_b(shared + stage * STAGE + A_TILE, B, k_start, block_column, K, b_length);
            }
            end_group();
        }
        wait_for_all_but<STAGES - 2>();
        __syncthreads();  // the first pair of tiles is complete

        // Where this thread's rows and columns begin in the pair of tiles that is multiplied.
        const float* a_from = shared + thread_row * A_LENGTH;
        const float* b_from = shared + A_TILE + thread_column;
        read_a(a, a_from);
        read_b(b[0], b_from);

        int stage = 0;  // where the pair lies that is multiplied
        #pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            if (tile + STAGES - 1 < tiles) {
                // Over the pair that was multiplied before this one.
                float* const free = shared + (stage == 0 ? STAGES - 1 : stage - 1) * STAGE;
                const int k_start = (first + tile + STAGES - 1) * BK;
                start_a(free, A, block_row, k_start, M, a_length);
                start_b(free + A_TILE, B, k_start, block_column, K, b_length);
            }
            end_group();
            if (*(volatile float*)a_from == 1.2345e37f) sum[0][0] = 0.0f;
            wait_for_all_but<0>();
            if (tile + 1 < tiles) {  // else the last pair is read once more, and not multiplied
                stage = stage == STAGES - 1 ? 0 : stage + 1;
            }
            // No fence before the first of four steps: it goes together with the reads of A behind
            // the last.
            #pragma unroll BODY / V
            for (int k = 0; k < BK; k += V) {
                multiply_and_read(sum, a, b[0], 0, b[1], b_from + BN);
                keep_order();
                multiply_and_read(sum, a, b[1], 1, b[0], b_from + 2 * BN);
                keep_order();
                multiply_and_read(sum, a, b[0], 2, b[1], b_from + 3 * BN);
                keep_order();
                a_from += V;
                b_from += V * BN;
                if (k == BK - V) {
                    wait_for_all_but<STAGES - 2>();
                    __syncthreads();  // the next pair is complete, and this one has been read
                    a_from = shared + stage * STAGE + thread_row * A_LENGTH;
                    b_from = shared + stage * STAGE + A_TILE + thread_column;
                }
                read_b(b[0], b_from);
                multiply(sum, a, b[1], 3);
                read_a(a, a_from);
            }
        }
        __syncthreads();  // the last pair has been read

        // What begins with the first step of a tile goes to C, anything else to the share's array.
        const bool to_c = first == 0;
        float* const out = to_c ? C + size_t(block_row) * N + block_column
                                : parts + size_t(blockIdx.x) * BM * BN;
        const int rows = to_c ? M - block_row : BM;
        const int columns = to_c ? N - block_column : BN;
        const size_t length = to_c ? N : BN;
        #pragma unroll
        for (int i = 0; i < TM; ++i) {
            const int row = thread_row + i * LANES_M;
            if (row < rows) {
                #pragma unroll
                for (int j = 0; j < TN; j += V) {
                    store_four<EVEN_N>(out + row * length, thread_column + j * LANES_N, columns,
                                        &sum[i][j]);
                }
            }
        }
    }
}

// Adds to C what shares have computed of tiles that others have begun. Blocks (i, …) add to the
// i-th tile that is shared, ADD_ROWS rows each, a column a thread.
__global__ void __launch_bounds__(BN)
add_parts(const float* __restrict__ parts, float* __restrict__ C, int M, int N, int K,
          int multiprocessors)
{
    const Schedule schedule(M, N, K, multiprocessors);
    // Where the tile begins and ends, as steps of shares are numbered.
    const long long begin = (long long)blockIdx.x * schedule.steps;
    const long long end = begin + schedule.steps;
    const int tile_of_c = schedule.whole + blockIdx.x;
    const int column = tile_of_c % schedule.across * BN + threadIdx.x;
    if (column >= N) {
        return;
    }
    for (int share = schedule.share_behind(begin); schedule.begin(share) < end; ++share) {
        if (schedule.begin(share) == schedule.begin(share + 1)) {
            continue;  // it has no steps
        }
        #pragma unroll
        for (int i = 0; i < ADD_ROWS; ++i) {
            const int row_of_tile = blockIdx.y * ADD_ROWS + i;
            const int row = tile_of_c / schedule.across * BM + row_of_tile;
            if (row < M) {
                const size_t row_of_parts = size_t(share) * BM + row_of_tile;
                C[size_t(row) * N + column] += parts[row_of_parts * BN + threadIdx.x];
            }
        }
    }
}
