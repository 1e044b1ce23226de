// A ring of one pair of tiles: producer and consumers take turns, and nothing is copied while it is multiplied.
//
// deserves: 05_padded_tile
//
// /// launch
// smallest_arch = "sm_90a"
//
// [[scratch]]
// name = "A_padded"
// dtype = "float16"
// shape = ["cdiv(M, V) * V", "cdiv(K, V) * V"]
//
// [[scratch]]
// name = "B_padded"
// dtype = "float16"
// shape = ["cdiv(K, V) * V", "cdiv(N, V) * V"]
//
// [[tensor_map]]
// name = "A_map"
// array = "A"
// shape = ["M", "K"]
// box = ["BM", "ROW"]
// swizzle = 128
//
// [[tensor_map]]
// name = "B_map"
// array = "B"
// shape = ["K", "N"]
// box = ["BK", "ROW"]
// swizzle = 128
//
// [[tensor_map]]
// name = "A_padded_map"
// array = "A_padded"
// shape = ["M", "cdiv(K, V) * V"]
// box = ["BM", "ROW"]
// swizzle = 128
//
// [[tensor_map]]
// name = "B_padded_map"
// array = "B_padded"
// shape = ["cdiv(K, V) * V", "cdiv(N, V) * V"]
// box = ["BK", "ROW"]
// swizzle = 128
//
// [[tensor_map]]
// name = "C_map"
// array = "C"
// shape = ["M", "N"]
// box = ["GROUP_M", "C_ROW"]
// swizzle = 128
//
// [[launch]]
// kernel = "pad"
// when = "K % V != 0 or N % V != 0"
// args = ["A", "A_padded", "M", "K"]
// grid = ["cdiv(cdiv(M, V) * V * cdiv(K, V), PAD_THREADS)"]
// block = ["PAD_THREADS"]
//
// [[launch]]
// kernel = "pad"
// when = "K % V != 0 or N % V != 0"
// args = ["B", "B_padded", "K", "N"]
// grid = ["cdiv(cdiv(K, V) * V * cdiv(N, V), PAD_THREADS)"]
// block = ["PAD_THREADS"]
//
// [[launch]]
// kernel = "hgemm_odd"
// when = "K % V != 0 or N % V != 0"
// args = ["A_padded_map", "B_padded_map", "C", "M", "N", "K"]
// grid = ["cdiv(cdiv(M, BM) * cdiv(N, BN), cdiv(cdiv(M, BM) * cdiv(N, BN), SMS))"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
//
// [[launch]]
// kernel = "hgemm"
// when = "K % V == 0 and N % V == 0"
// args = ["A_map", "B_map", "C_map", "M", "N", "K"]
// grid = ["cdiv(cdiv(M, BM) * cdiv(N, BN), cdiv(cdiv(M, BM) * cdiv(N, BN), SMS))"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
// ///

#include <cuda.h>
#include <cuda_fp16.h>

constexpr int BM = 128;    // rows of C that a block computes, 64 a warpgroup
constexpr int BN = 256;    // columns of C that a block computes: the most that wgmma takes
constexpr int BK = 64;     // steps of k in a tile
constexpr int ROW = 64;    // halves in a row of a box: 128 bytes, all banks, and what a swizzle takes
constexpr int STAGES = 1;  // pairs of tiles in shared memory, 48 KiB each

constexpr int GROUP_ROWS = 8;  // rows of tiles that are computed together

constexpr int GROUP = 128;  // threads of a warpgroup
constexpr int GROUP_M = 64;  // rows that it multiplies at a time
constexpr int CONSUMERS = BM / GROUP_M;  // warpgroups that multiply; one more brings the tiles
constexpr int THREADS = (1 + CONSUMERS) * GROUP;

// Registers of a thread: 65,536 a multiprocessor are 168 for each of 384 threads. (40 + 2 · 232) · 128 are as many.
constexpr int PRODUCER_REGISTERS = 40;
constexpr int CONSUMER_REGISTERS = 232;

constexpr int V = 8;              // halves in 16 bytes: what is moved at a time
constexpr int HALF = 2;           // bytes of a half
constexpr int PAD_THREADS = 256;  // threads of a block that pads

constexpr int A_TILE = BM * BK;    // halves of a tile of A
constexpr int B_PIECE = BK * ROW;  // of a box of B
constexpr int B_TILE = BK * BN;    // and of a tile of B, BN / ROW boxes beside one another
constexpr int PAIR_BYTES = (A_TILE + B_TILE) * HALF;
static_assert(BK == ROW, "a box is as wide as a tile of A");

constexpr int C_ROW = 32;                 // floats in a row of a box of C: 128 bytes
constexpr int C_BOX = GROUP_M * C_ROW;    // floats of a box of C
constexpr int SLICE = 2 * C_ROW;          // columns of C that a warpgroup writes at a time, two boxes
constexpr int SLICES = 2;                 // slices in shared memory: one is filled while the other leaves
constexpr int SHARED_BYTES = STAGES * PAIR_BYTES + CONSUMERS * SLICES * 2 * C_BOX * int(sizeof(float));

// The smallest multiple of V that is not below x.
__device__ constexpr int round_up(int x)
{
    return (x + V - 1) / V * V;
}

// Copies a matrix of rows × columns, row-major, into one of round_up(rows) × round_up(columns),
// with zeros where the source has nothing. A thread writes V neighbouring halves, all at once.
extern "C" __global__ void pad(const half* __restrict__ source, half* __restrict__ target, int rows,
                               int columns)
{
    const int pieces_a_row = round_up(columns) / V;
    const int piece = blockIdx.x * PAD_THREADS + threadIdx.x;
    const int row = piece / pieces_a_row;
    const int column = piece % pieces_a_row * V;
    if (row >= round_up(rows)) {
        return;
    }

    __align__(16) half values[V];
    #pragma unroll
    for (int i = 0; i < V; ++i) {
        const bool inside = row < rows && column + i < columns;
        values[i] = inside ? source[size_t(row) * columns + column + i] : half(0.0f);
    }
    *reinterpret_cast<uint4*>(target + size_t(piece) * V) = *reinterpret_cast<const uint4*>(values);
}

// Makes a barrier of so many arrivals. Its phase is over when they, and all bytes announced to it, have arrived.
__device__ void make_barrier(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Arrives at the barrier.
__device__ void arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives at the barrier, and announces so many bytes to its current phase.
__device__ void expect_bytes(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

// Waits until the barrier's phase of that parity is over: phases are counted from 0.
__device__ void wait_for(unsigned barrier, int parity)
{
    asm volatile("{\n"
                 ".reg .pred over;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@!over bra again;\n"
                 "}" ::"r"(barrier), "r"(parity)
                 : "memory");
}

// Starts to copy a box to shared memory: its first element is at (row, column). The barrier is told of its bytes.
__device__ void start_box(unsigned target, const CUtensorMap& map, int row, int column, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(target), "l"(&map), "r"(column), "r"(row), "r"(barrier)
                 : "memory");
}

// Starts to copy a box from shared memory to C: its first element goes to (row, column).
__device__ void start_store(const CUtensorMap& map, int row, int column, unsigned source)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                 "r"(column), "r"(row), "r"(source)
                 : "memory");
}

// Closes a group: all stores that this thread has started since the last one.
__device__ void close_stores()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all but the last PENDING groups of stores have read shared memory.
template <int PENDING>
__device__ void wait_for_reads_of_stores()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

// Waits until all stores are done.
__device__ void wait_for_stores()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// All threads of a warpgroup wait for each other: barrier 0 is the block's, 1 and 2 are free.
__device__ void sync_group(int consumer)
{
    asm volatile("bar.sync %0, %1;" ::"r"(consumer + 1), "n"(GROUP) : "memory");
}

// What wgmma is told of an operand in shared memory: where it begins, and that its rows are swizzled within 128 bytes.
// Eight rows are an atom of the swizzle. `next_rows` is how many bytes further the next eight rows lie, `next_columns`
// how many further the next 64 columns, where there are any. All are in units of 16 bytes.
__device__ unsigned long long describe(unsigned address, unsigned next_rows, unsigned next_columns)
{
    constexpr unsigned long long SWIZZLE_128 = 1ull << 62;
    return (address & 0x3FFFF) >> 4 | (unsigned long long)(next_columns >> 4) << 16 |
           (unsigned long long)(next_rows >> 4) << 32 | SWIZZLE_128;
}

// Of a warpgroup's 64 × 256 sums, a thread holds 32 times four: of the columns from 8·j on.
using Sums = float[BN / 8][4];

// wgmma: sum (+)= a · b, with a of 64 × 16, b of 16 × 256; without `add` the sums begin at 0. b's rows lie along n,
// which the last number says.
__device__ void multiply_add(Sums& sum, unsigned long long a, unsigned long long b, bool add)
{
#define SUMS(j) "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
    asm volatile(
        "{\n"
        ".reg .pred add;\n"
        "setp.ne.b32 add, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, add, 1, 1, 0, 1;\n"
        "}"
        : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7),
          SUMS(8), SUMS(9), SUMS(10), SUMS(11), SUMS(12), SUMS(13), SUMS(14), SUMS(15),
          SUMS(16), SUMS(17), SUMS(18), SUMS(19), SUMS(20), SUMS(21), SUMS(22), SUMS(23),
          SUMS(24), SUMS(25), SUMS(26), SUMS(27), SUMS(28), SUMS(29), SUMS(30), SUMS(31)
        : "l"(a), "l"(b), "r"(int(add)));
#undef SUMS
}

// Before the first wgmma, and before one whose sums other instructions have touched.
__device__ void begin_products()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Closes a group: all products that this warpgroup has started since the last one.
__device__ void close_products()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until all but the last PENDING groups of products are done.
template <int PENDING>
__device__ void wait_for_products()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// A warpgroup's rows of a pair of tiles: 64 × BK of A times BK × BN of B, 16 steps of k at a time.
__device__ void multiply(Sums& sum, unsigned a_rows, unsigned b_tile, bool add)
{
    constexpr unsigned ATOM = 8 * ROW * HALF;  // bytes of eight rows of a box
    begin_products();
    #pragma unroll
    for (int k = 0; k < BK; k += 16) {
        // A's rows lie along k: 16 steps further are 32 bytes. B's lie along n: they are 16 rows.
        const unsigned long long a = describe(a_rows + k * HALF, ATOM, 0);
        const unsigned long long b = describe(b_tile + k * ROW * HALF, ATOM, B_PIECE * HALF);
        multiply_add(sum, a, b, add || k > 0);
    }
    close_products();
}

// Where a block's tile of C begins. The tiles are counted down GROUP_ROWS rows of them, then on to the next column; the
// last group may have fewer rows.
struct Place {
    int row, column;
};

__device__ Place place_of(int tile, int M, int N)
{
    const int tiles_down = (M + BM - 1) / BM;
    const int tiles_across = (N + BN - 1) / BN;
    const int first_row = tile / (GROUP_ROWS * tiles_across) * GROUP_ROWS;
    const int rows = min(GROUP_ROWS, tiles_down - first_row);
    const int in_group = tile % (GROUP_ROWS * tiles_across);
    return {(first_row + in_group % rows) * BM, in_group / rows * BN};
}

__device__ int tiles_of(int M, int N)
{
    return (M + BM - 1) / BM * ((N + BN - 1) / BN);
}

// A place in the ring of stages, and the parity of the phase that its barriers are in.
struct Stage {
    int index = 0;
    int parity = 0;

    __device__ void advance()
    {
        if (++index == STAGES) {
            index = 0;
            parity ^= 1;
        }
    }
};

// One thread brings all pairs of tiles of all of the block's tiles of C.
__device__ void produce(const CUtensorMap& A, const CUtensorMap& B, unsigned a_tiles, unsigned b_tiles, unsigned full,
                        unsigned empty, int M, int N, int K)
{
    Stage stage;
    for (int tile = blockIdx.x; tile < tiles_of(M, N); tile += gridDim.x) {
        const Place place = place_of(tile, M, N);
        for (int k = 0; k < K; k += BK, stage.advance()) {
            const unsigned barrier = full + stage.index * 8;
            wait_for(empty + stage.index * 8, stage.parity ^ 1);  // the phase before the first one counts as over
            expect_bytes(barrier, PAIR_BYTES);
            start_box(a_tiles + stage.index * A_TILE * HALF, A, place.row, k, barrier);
            #pragma unroll
            for (int piece = 0; piece < BN / ROW; ++piece) {
                start_box(b_tiles + (stage.index * B_TILE + piece * B_PIECE) * HALF, B, k, place.column + piece * ROW,
                          barrier);
            }
        }
    }
}

// Of a warpgroup's sums of one tile of C: the products of its 64 rows. Stages go back as they are done with.
__device__ void consume(Sums& sum, unsigned a_rows, unsigned b_tiles, unsigned full, unsigned empty, int K,
                        Stage& stage)
{
    for (int k = 0; k < K; k += BK, stage.advance()) {
        wait_for(full + stage.index * 8, stage.parity);  // the pair of tiles has come
        multiply(sum, a_rows + stage.index * A_TILE * HALF, b_tiles + stage.index * B_TILE * HALF, k > 0);
        wait_for_products<0>();
        if (threadIdx.x % GROUP == 0) arrive(empty + stage.index * 8);
    }
}

// Writes a warpgroup's 64 × 256 sums by TMA, a slice of 64 columns at a time. What of a box lies outside of C is not
// written. Warp w holds rows 16·w and on: sum[j][0] and [1] are in the upper eight of them, [2] and [3] in the lower.
struct ByBoxes {
    const CUtensorMap& C;
    unsigned slices;  // this warpgroup's shared memory

    __device__ void operator()(const Sums& sum, int first_row, int first_column, int consumer) const
    {
        const int lane = threadIdx.x % 32;
        const int row = threadIdx.x % GROUP / 32 * 16 + lane / 4;
        #pragma unroll
        for (int slice = 0; slice < BN / SLICE; ++slice) {
            const unsigned target = slices + slice % SLICES * 2 * C_BOX * sizeof(float);
            const bool speaker = threadIdx.x % GROUP == 0;  // the thread that starts the stores
            if (speaker) wait_for_reads_of_stores<SLICES - 1>();
            sync_group(consumer);
            #pragma unroll
            for (int lower = 0; lower < 2; ++lower) {
                #pragma unroll
                for (int j = 0; j < SLICE / 8; ++j) {
                    if (j % 4 >= 2) continue;  // comes with the one two before it
                    // Half a warp stores two floats each in four rows at a time. Two neighbouring rows of a swizzle have
                    // the same pieces in the same banks, so odd rows begin with the right one of two blocks of columns.
                    const float* const left = sum[slice * SLICE / 8 + j] + lower * 2;
                    const float* const right = sum[slice * SLICE / 8 + j + 2] + lower * 2;
                    const unsigned box = target + j / 4 * C_BOX * sizeof(float);
                    const int column = j % 4 * 8 + lane % 4 * 2;
                    const bool odd = row % 2;
                    put(box, row + lower * 8, column + odd * 16, odd ? right[0] : left[0], odd ? right[1] : left[1]);
                    put(box, row + lower * 8, column + !odd * 16, odd ? left[0] : right[0], odd ? left[1] : right[1]);
                }
            }
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // TMA is to see what was put
            sync_group(consumer);
            if (speaker) {
                const int column = first_column + slice * SLICE;
                start_store(C, first_row, column, target);
                start_store(C, first_row, column + C_ROW, target + C_BOX * sizeof(float));
                close_stores();
            }
        }
    }

    // Two neighbouring floats into a box. The swizzle of 128 bytes exchanges the 16-byte pieces of a row: piece p of
    // row r lies where piece p ^ (r % 8) would.
    static __device__ void put(unsigned box, int row, int column, float left, float right)
    {
        const int piece = column / 4 ^ row % 8;
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(box + row * 128 + piece * 16 + column % 4 * 4),
                     "f"(left), "f"(right)
                     : "memory");
    }
};

// Writes them one or two at a time: rows of C that are no multiple of 16 bytes are out of TMA's reach. Only where rows
// are even do all pairs start at a multiple of 8 bytes.
struct ByPairs {
    float* C;
    int M, N;

    __device__ void operator()(const Sums& sum, int first_row, int first_column, int) const
    {
        const int lane = threadIdx.x % 32;
        #pragma unroll
        for (int lower = 0; lower < 2; ++lower) {
            const int row = first_row + threadIdx.x % GROUP / 32 * 16 + lane / 4 + lower * 8;
            if (row >= M) return;
            #pragma unroll
            for (int j = 0; j < BN / 8; ++j) {
                const float* const two = sum[j] + lower * 2;
                store_two(C + size_t(row) * N, first_column + j * 8 + lane % 4 * 2, two);
            }
        }
    }

    __device__ void store_two(float* row, int column, const float* two) const
    {
        if (N % 2 == 0 && column < N) {
            *reinterpret_cast<float2*>(row + column) = make_float2(two[0], two[1]);
        } else {
            if (column < N) row[column] = two[0];
            if (column + 1 < N) row[column + 1] = two[1];
        }
    }
};

// C = A · B, all row-major, A and B half, C float: C is M × N. `A` and `B` say where the matrices lie and how large
// they are; what a box has beyond is zero. `write` writes the sums of a warpgroup.
template <typename Write>
__device__ void multiply_tiles(const CUtensorMap& A, const CUtensorMap& B, unsigned shared, Write write, int M, int N,
                               int K)
{
    __shared__ unsigned long long barriers[2 * STAGES];
    const unsigned full = __cvta_generic_to_shared(barriers);  // a pair of tiles has come,
    const unsigned empty = full + STAGES * 8;                  // and has been multiplied
    const unsigned a_tiles = shared;                            // STAGES tiles of BM rows × BK steps of k
    const unsigned b_tiles = a_tiles + STAGES * A_TILE * HALF;  // STAGES tiles of BK steps of k × BN columns

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            make_barrier(full + stage * 8, 1);
            make_barrier(empty + stage * 8, CONSUMERS);
        }
        // The copies are made by another unit, which is to see the barriers as well.
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    const int consumer = int(threadIdx.x / GROUP) - 1;  // the first warpgroup brings, the others multiply
    if (consumer < 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS));
        if (threadIdx.x == 0) produce(A, B, a_tiles, b_tiles, full, empty, M, N, K);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
        const int group_row = consumer * GROUP_M;  // first row of this warpgroup within the block's
        Sums sum;
        Stage stage;
        for (int tile = blockIdx.x; tile < tiles_of(M, N); tile += gridDim.x) {
            const Place place = place_of(tile, M, N);
            consume(sum, a_tiles + group_row * ROW * HALF, b_tiles, full, empty, K, stage);
            write(sum, place.row + group_row, place.column, consumer);
        }
        wait_for_stores();
    }
}

extern __shared__ __align__(1024) half shared[];  // a swizzle repeats after 8 rows of 128 bytes

extern "C" __global__ void __launch_bounds__(THREADS, 1)
hgemm(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
      const __grid_constant__ CUtensorMap C, int M, int N, int K)
{
    const unsigned tiles = __cvta_generic_to_shared(shared);
    const int consumer = max(int(threadIdx.x / GROUP) - 1, 0);
    const unsigned slices = tiles + STAGES * PAIR_BYTES + consumer * SLICES * 2 * C_BOX * sizeof(float);
    multiply_tiles(A, B, tiles, ByBoxes{C, slices}, M, N, K);
}

// The same where rows are no multiple of 16 bytes, and A and B are padded.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
hgemm_odd(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, float* __restrict__ C, int M,
          int N, int K)
{
    multiply_tiles(A, B, __cvta_generic_to_shared(shared), ByPairs{C, M, N}, M, N, K);
}
