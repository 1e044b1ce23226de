// Rung 10, in which the whole block waits for each pair of tiles: at an mbarrier of all its threads in place of
// __syncthreads().
//
// deserves: 10_wgmma
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
// kernel = "hgemm"
// when = "K % V != 0 or N % V != 0"
// args = ["A_padded_map", "B_padded_map", "C", "M", "N", "K"]
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
//
// [[launch]]
// kernel = "hgemm"
// when = "K % V == 0 and N % V == 0"
// args = ["A_map", "B_map", "C", "M", "N", "K"]
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
// ///

#include <cuda.h>
#include <cuda_fp16.h>

constexpr int BM = 128;    // rows of C that a block computes, 64 a warpgroup
constexpr int BN = 256;    // columns of C that a block computes: the most that wgmma takes
constexpr int BK = 64;     // steps of k in a tile
constexpr int ROW = 64;    // halves in a row of a box: 128 bytes, all banks, and what a swizzle takes
constexpr int STAGES = 4;  // pairs of tiles in shared memory, 48 KiB each

constexpr int GROUP = 128;  // threads of a warpgroup
constexpr int GROUP_M = 64;  // rows that it multiplies at a time
constexpr int THREADS = BM / GROUP_M * GROUP;

constexpr int V = 8;              // halves in 16 bytes: what is moved at a time
constexpr int HALF = 2;           // bytes of a half
constexpr int PAD_THREADS = 256;  // threads of a block that pads

constexpr int A_TILE = BM * BK;    // halves of a tile of A
constexpr int B_PIECE = BK * ROW;  // of a box of B
constexpr int B_TILE = BK * BN;    // and of a tile of B, BN / ROW boxes beside one another
constexpr int PAIR_BYTES = (A_TILE + B_TILE) * HALF;
constexpr int SHARED_BYTES = STAGES * PAIR_BYTES;
static_assert(BK == ROW, "a box is as wide as a tile of A");

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

// Makes a barrier of one thread, which announces bytes; its phase is over when they have arrived.
__device__ void make_barrier(unsigned barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
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

__device__ void meet_all(unsigned barrier, int phase)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
    wait_for(barrier, phase & 1);
}

// Starts to copy a box to shared memory: its first element is at (row, column). The barrier is told of its bytes.
__device__ void start_box(unsigned target, const CUtensorMap& map, int row, int column, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(target), "l"(&map), "r"(column), "r"(row), "r"(barrier)
                 : "memory");
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

// Writes two neighbouring sums into a row of `length` floats, or what of them lies inside. Only
// where rows are even do all such pairs start at a multiple of 8 bytes.
__device__ void store_two(float* row, int column, int length, float left, float right)
{
    if (length % 2 == 0) {
        if (column < length) {
            *reinterpret_cast<float2*>(row + column) = make_float2(left, right);
        }
        return;
    }
    if (column < length) row[column] = left;
    if (column + 1 < length) row[column + 1] = right;
}

// C = A · B, all row-major, A and B half, C float: C is M × N. `A` and `B` say where the matrices lie and how large
// they are; what a box has beyond is zero.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
hgemm(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
      float* __restrict__ C, int M, int N, int K)
{
    extern __shared__ __align__(1024) half shared[];  // a swizzle repeats after 8 rows of 128 bytes
    __shared__ unsigned long long everybody;
    __shared__ unsigned long long full[STAGES];       // mbarriers: the pair of tiles has come
    const unsigned a_tiles = __cvta_generic_to_shared(shared);  // STAGES tiles of BM rows × BK steps of k
    const unsigned b_tiles = a_tiles + STAGES * A_TILE * HALF;  // STAGES tiles of BK steps of k × BN columns
    const unsigned first_barrier = __cvta_generic_to_shared(full);

    const int blocks_across = (N + BN - 1) / BN;
    const int block_row = blockIdx.x / blocks_across * BM;     // first row of C of this block
    const int block_column = blockIdx.x % blocks_across * BN;  // and its first column
    const int group_row = threadIdx.x / GROUP * GROUP_M;       // first row of this warpgroup within the block's

    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(&everybody)), "r"(THREADS) : "memory");
        for (int stage = 0; stage < STAGES; ++stage) {
            make_barrier(first_barrier + stage * 8);
        }
        // The copies are made by another unit, which is to see the barriers as well.
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    // Starts the copies of a pair of tiles; beyond the end of k there is none. One thread does it.
    const int tiles = (K + BK - 1) / BK;
    const auto start = [&](int tile) {
        if (tile >= tiles || threadIdx.x != 0) {
            return;
        }
        const int stage = tile % STAGES;
        const unsigned barrier = first_barrier + stage * 8;
        expect_bytes(barrier, PAIR_BYTES);
        start_box(a_tiles + stage * A_TILE * HALF, A, block_row, tile * BK, barrier);
        #pragma unroll
        for (int piece = 0; piece < BN / ROW; ++piece) {
            start_box(b_tiles + (stage * B_TILE + piece * B_PIECE) * HALF, B, tile * BK, block_column + piece * ROW,
                      barrier);
        }
    };

    Sums sum;
    for (int tile = 0; tile < STAGES - 1; ++tile) {
        start(tile);
    }
    for (int tile = 0; tile < tiles; ++tile) {
        const int stage = tile % STAGES;
        wait_for(first_barrier + stage * 8, tile / STAGES % 2);  // the pair of tiles has come
        multiply(sum, a_tiles + (stage * A_TILE + group_row * ROW) * HALF, b_tiles + stage * B_TILE * HALF, tile > 0);
        wait_for_products<1>();    // the pair before this one has been multiplied, by this warpgroup
        meet_all(__cvta_generic_to_shared(&everybody), tile);
        start(tile + STAGES - 1);  // it is overwritten now
    }
    wait_for_products<0>();

    // Warp w of a warpgroup holds 16 rows: sum[j][0] and [1] are in the upper eight, [2] and [3] in the lower.
    const int lane = threadIdx.x % 32;
    const int first_row = block_row + group_row + threadIdx.x % GROUP / 32 * 16 + lane / 4;
    const int first_column = block_column + lane % 4 * 2;
    #pragma unroll
    for (int half_of_rows = 0; half_of_rows < 2; ++half_of_rows) {
        const int row = first_row + half_of_rows * 8;
        if (row < M) {
            #pragma unroll
            for (int j = 0; j < BN / 8; ++j) {
                const float* const two = sum[j] + half_of_rows * 2;
                store_two(C + size_t(row) * N, first_column + j * 8, N, two[0], two[1]);
            }
        }
    }
}
