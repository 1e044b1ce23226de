// A ring of one stage: parts are multiplied, and then the next are copied.
//
// deserves: 06_warp_tile
//
// /// launch
// smallest_arch = "sm_90a"
//
// [[scratch]]
// name = "A_high"
// dtype = "float16"
// shape = ["M", "cdiv(K, V) * V"]
//
// [[scratch]]
// name = "A_low"
// dtype = "float16"
// shape = ["M", "cdiv(K, V) * V"]
//
// [[scratch]]
// name = "B_high"
// dtype = "float16"
// shape = ["K", "cdiv(N, V) * V"]
//
// [[scratch]]
// name = "B_low"
// dtype = "float16"
// shape = ["K", "cdiv(N, V) * V"]
//
// [[scratch]]
// name = "A_exponents"
// dtype = "int32"
// shape = ["M"]
//
// [[scratch]]
// name = "B_exponents"
// dtype = "int32"
// shape = ["N"]
//
// [[tensor_map]]
// name = "A_high_map"
// array = "A_high"
// shape = ["M", "cdiv(K, V) * V"]
// box = ["BM", "BK"]
// swizzle = 128
//
// [[tensor_map]]
// name = "A_low_map"
// array = "A_low"
// shape = ["M", "cdiv(K, V) * V"]
// box = ["BM", "BK"]
// swizzle = 128
//
// [[tensor_map]]
// name = "B_high_map"
// array = "B_high"
// shape = ["K", "cdiv(N, V) * V"]
// box = ["BK", "ROW"]
// swizzle = 128
//
// [[tensor_map]]
// name = "B_low_map"
// array = "B_low"
// shape = ["K", "cdiv(N, V) * V"]
// box = ["BK", "ROW"]
// swizzle = 128
//
// [[launch]]
// kernel = "row_exponents"
// args = ["A", "A_exponents", "M", "K"]
// grid = ["cdiv(M, SPLIT_THREADS // 32)"]
// block = ["SPLIT_THREADS"]
//
// [[launch]]
// kernel = "column_exponents"
// args = ["B", "B_exponents", "K", "N"]
// grid = ["cdiv(N, 32)"]
// block = ["32", "COLUMN_THREADS"]
//
// [[launch]]
// kernel = "split<true>"
// args = ["A", "A_exponents", "A_high", "A_low", "M", "K"]
// grid = ["cdiv(M * cdiv(K, V) * (V // SPLIT_V), SPLIT_THREADS)"]
// block = ["SPLIT_THREADS"]
//
// [[launch]]
// kernel = "split<false>"
// args = ["B", "B_exponents", "B_high", "B_low", "K", "N"]
// grid = ["cdiv(K * cdiv(N, V) * (V // SPLIT_V), SPLIT_THREADS)"]
// block = ["SPLIT_THREADS"]
//
// [[launch]]
// kernel = "gemm"
// args = [
//     "A_high_map", "A_low_map", "B_high_map", "B_low_map", "A", "B", "A_exponents", "B_exponents", "C", "M", "N", "K",
// ]
// grid = ["cdiv(cdiv(M, BM) * cdiv(N, BN), cdiv(cdiv(M, BM) * cdiv(N, BN), SMS))"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
// ///

#include <cuda.h>
#include <cuda_fp16.h>

constexpr int BM = 128;    // rows of C that a block computes, 64 a warpgroup
constexpr int BN = 128;    // columns of C that a block computes
constexpr int BK = 64;     // steps of k in a tile
constexpr int ROW = 64;    // halves in a row of a box: 128 bytes, all banks, and what a swizzle takes
constexpr int STAGES = 1;  // in shared memory, 64 KiB each: a tile of both parts of A, and of both of B

constexpr int GROUP_ROWS = 16;  // rows of tiles that are computed together

constexpr int GROUP = 128;   // threads of a warpgroup
constexpr int GROUP_M = 64;  // rows that it multiplies at a time
constexpr int CONSUMERS = BM / GROUP_M;  // warpgroups that multiply; one more brings the tiles
constexpr int THREADS = (1 + CONSUMERS) * GROUP;

// Registers of a thread: 65,536 a multiprocessor are 168 for each of 384 threads. (40 + 2 · 232) · 128 are as many.
constexpr int PRODUCER_REGISTERS = 40;
constexpr int CONSUMER_REGISTERS = 232;

constexpr int V = 8;                // halves in 16 bytes: rows of parts are a multiple of them, as TMA asks
constexpr int SPLIT_V = 4;          // floats in 16 bytes, which a thread splits
constexpr int HALF = 2;             // bytes of a half
constexpr int SPLIT_THREADS = 256;  // threads of a block that splits
constexpr int COLUMN_THREADS = 32;  // threads that share 32 columns of B as they look for the largest magnitudes

constexpr int A_BYTES = BM * BK * HALF;   // of a tile of one part of A
constexpr int B_PIECE = BK * ROW * HALF;  // of a box of B
constexpr int B_BYTES = BK * BN * HALF;   // and of a tile of one part of B, BN / ROW boxes beside one another
constexpr int STAGE_BYTES = 2 * A_BYTES + 2 * B_BYTES;
constexpr int SHARED_BYTES = STAGES * STAGE_BYTES;
static_assert(BK == ROW, "a box is as wide as a tile of A");

// The smallest multiple of V that is not below x.
__device__ constexpr int round_up(int x)
{
    return (x + V - 1) / V * V;
}

// The bits of a magnitude: they are in the same order as the magnitudes themselves.
__device__ unsigned magnitude(float x)
{
    return __float_as_uint(x) & 0x7FFFFFFF;
}

// The exponent e for which 2^e times a magnitude, given as bits, lies between 2^14 and 2^15. 2^127 is the largest power
// that a float holds; a magnitude that would need more comes out smaller.
__device__ int exponent_for(unsigned most)
{
    return min(127, 14 + 127 - int(most >> 23));
}

// For each row of a matrix of rows × columns, row-major, the exponent for its largest magnitude. A warp looks at a row.
extern "C" __global__ void row_exponents(const float* __restrict__ source, int* __restrict__ exponents, int rows,
                                         int columns)
{
    const int row = blockIdx.x * (SPLIT_THREADS / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    unsigned most = 0;
    #pragma unroll 4
    for (int column = threadIdx.x % 32; column < columns; column += 32) {
        most = max(most, magnitude(source[size_t(row) * columns + column]));
    }
    most = __reduce_max_sync(0xFFFFFFFF, most);
    if (threadIdx.x % 32 == 0) exponents[row] = exponent_for(most);
}

// The same for each column. A block looks at 32 of them, COLUMN_THREADS threads at one.
extern "C" __global__ void column_exponents(const float* __restrict__ source, int* __restrict__ exponents, int rows,
                                            int columns)
{
    __shared__ unsigned mosts[COLUMN_THREADS][32];
    const int column = blockIdx.x * 32 + threadIdx.x;
    unsigned most = 0;
    if (column < columns) {
        #pragma unroll 4
        for (int row = threadIdx.y; row < rows; row += COLUMN_THREADS) {
            most = max(most, magnitude(source[size_t(row) * columns + column]));
        }
    }
    mosts[threadIdx.y][threadIdx.x] = most;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
        for (int i = 1; i < COLUMN_THREADS; ++i) {
            most = max(most, mosts[i][threadIdx.x]);
        }
        exponents[column] = exponent_for(most);
    }
}

// Splits a matrix of rows × columns, row-major, into two of rows × round_up(columns), with zeros where the source has
// nothing. A thread writes SPLIT_V neighbouring halves of both, all at once. BY_ROW: there is an exponent for each row,
// else for each column.
template <bool BY_ROW>
__global__ void split(const float* __restrict__ source, const int* __restrict__ exponents, half* __restrict__ high,
                      half* __restrict__ low, int rows, int columns)
{
    const int pieces_a_row = round_up(columns) / SPLIT_V;
    const int piece = blockIdx.x * SPLIT_THREADS + threadIdx.x;
    const int row = piece / pieces_a_row;
    const int column = piece % pieces_a_row * SPLIT_V;
    if (row >= rows) {
        return;
    }

    __align__(16) float values[SPLIT_V] = {};
    __align__(16) int powers[SPLIT_V] = {};
    const float* const from = source + size_t(row) * columns + column;
    if (columns % SPLIT_V == 0 && column < columns) {
        *reinterpret_cast<float4*>(values) = *reinterpret_cast<const float4*>(from);
        if (!BY_ROW) *reinterpret_cast<int4*>(powers) = *reinterpret_cast<const int4*>(exponents + column);
    } else {
        #pragma unroll
        for (int i = 0; i < SPLIT_V; ++i) {
            if (column + i < columns) {
                values[i] = from[i];
                if (!BY_ROW) powers[i] = exponents[column + i];
            }
        }
    }

    const int row_power = BY_ROW ? exponents[row] : 0;
    __align__(8) half highs[SPLIT_V];
    __align__(8) half lows[SPLIT_V];
    #pragma unroll
    for (int i = 0; i < SPLIT_V; ++i) {
        const int exponent = BY_ROW ? row_power : powers[i];
        const float scaled = values[i] * __int_as_float((exponent + 127) << 23);  // 2^exponent as a float
        highs[i] = __float2half_rn(scaled);
        lows[i] = __float2half_rn(scaled - __half2float(highs[i]));
    }
    *reinterpret_cast<uint2*>(high + size_t(piece) * SPLIT_V) = *reinterpret_cast<const uint2*>(highs);
    *reinterpret_cast<uint2*>(low + size_t(piece) * SPLIT_V) = *reinterpret_cast<const uint2*>(lows);
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

// What wgmma is told of an operand in shared memory: where it begins, and that its rows are swizzled within 128 bytes.
// Eight rows are an atom of the swizzle, 1024 bytes: so much further the next eight rows lie. `next_columns` is how many
// bytes further the next 64 columns lie, where there are any. All are in units of 16 bytes.
__device__ unsigned long long describe(unsigned address, unsigned next_columns)
{
    constexpr unsigned long long SWIZZLE_128 = 1ull << 62;
    constexpr unsigned long long ATOM = 8 * 128 >> 4;
    return (address & 0x3FFFF) >> 4 | (unsigned long long)(next_columns >> 4) << 16 | ATOM << 32 | SWIZZLE_128;
}

// Of a warpgroup's 64 × 128 sums, a thread holds 16 times four: of the columns from 8·j on.
using Sums = float[BN / 8][4];

// wgmma: sum (+)= a · b, with a of 64 × 16, b of 16 × 128; without `add` the sums begin at 0. b's rows lie along n,
// which the last number says.
__device__ void multiply_add(Sums& sum, unsigned long long a, unsigned long long b, bool add)
{
#define SUMS(j) "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
    asm volatile(
        "{\n"
        ".reg .pred add;\n"
        "setp.ne.b32 add, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, add, 1, 1, 0, 1;\n"
        "}"
        : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7),
          SUMS(8), SUMS(9), SUMS(10), SUMS(11), SUMS(12), SUMS(13), SUMS(14), SUMS(15)
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

// Waits until all products are done. The compiler is told that the sums change here: it may not read them sooner.
__device__ void wait_for_products(Sums& sum)
{
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    #pragma unroll
    for (int j = 0; j < BN / 8; ++j) {
        asm volatile("" : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])::"memory");
    }
}

// A warpgroup's rows of a tile of A times a tile of B, 16 steps of k at a time.
__device__ void multiply(Sums& sum, unsigned a_rows, unsigned b_tile, bool add)
{
    #pragma unroll
    for (int k = 0; k < BK; k += 16) {
        // A's rows lie along k: 16 steps further are 32 bytes. B's lie along n: they are 16 rows.
        const unsigned long long a = describe(a_rows + k * HALF, 0);
        const unsigned long long b = describe(b_tile + k * ROW * HALF, B_PIECE);
        multiply_add(sum, a, b, add || k > 0);
    }
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

// One thread brings all tiles of all of the block's tiles of C.
__device__ void produce(const CUtensorMap& A_high, const CUtensorMap& A_low, const CUtensorMap& B_high,
                        const CUtensorMap& B_low, unsigned stages, unsigned full, unsigned empty, int M, int N, int K)
{
    Stage stage;
    for (int tile = blockIdx.x; tile < tiles_of(M, N); tile += gridDim.x) {
        const Place place = place_of(tile, M, N);
        for (int k = 0; k < K; k += BK, stage.advance()) {
            const unsigned barrier = full + stage.index * 8;
            const unsigned a_tiles = stages + stage.index * STAGE_BYTES;
            const unsigned b_tiles = a_tiles + 2 * A_BYTES;
            wait_for(empty + stage.index * 8, stage.parity ^ 1);  // the phase before the first one counts as over
            expect_bytes(barrier, STAGE_BYTES);
            start_box(a_tiles, A_high, place.row, k, barrier);
            start_box(a_tiles + A_BYTES, A_low, place.row, k, barrier);
            #pragma unroll
            for (int piece = 0; piece < BN / ROW; ++piece) {
                const unsigned target = b_tiles + piece * B_PIECE;
                start_box(target, B_high, k, place.column + piece * ROW, barrier);
                start_box(target + B_BYTES, B_low, k, place.column + piece * ROW, barrier);
            }
        }
    }
}

// A warpgroup's sums of one tile of C. `a_rows` is where its rows lie in the first stage. Stages go back as they are
// done with.
__device__ void consume(Sums& sum, unsigned a_rows, unsigned b_tiles, unsigned full, unsigned empty, int K,
                        Stage& stage)
{
    #pragma unroll
    for (int j = 0; j < BN / 8; ++j) {
        sum[j][0] = sum[j][1] = sum[j][2] = sum[j][3] = 0.0f;
    }
    for (int k = 0; k < K; k += BK, stage.advance()) {
        const unsigned a_high = a_rows + stage.index * STAGE_BYTES;
        const unsigned b_high = b_tiles + stage.index * STAGE_BYTES;
        const unsigned a_low = a_high + A_BYTES;
        const unsigned b_low = b_high + B_BYTES;
        Sums part;
        wait_for(full + stage.index * 8, stage.parity);  // the tiles have come
        begin_products();
        multiply(part, a_high, b_low, false);  // small products first, while little is dropped
        multiply(part, a_low, b_high, true);
        multiply(part, a_high, b_high, true);
        close_products();
        wait_for_products(part);
        if (threadIdx.x % GROUP == 0) arrive(empty + stage.index * 8);
        #pragma unroll
        for (int j = 0; j < BN / 8; ++j) {
            #pragma unroll
            for (int i = 0; i < 4; ++i) sum[j][i] += part[j][i];
        }
    }
}

// An output as it comes from the factors themselves.
__device__ float dot(const float* __restrict__ A, const float* __restrict__ B, int row, int column, int N, int K)
{
    float sum = 0.0f;
    #pragma unroll 1
    for (int k = 0; k < K; ++k) {
        sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    }
    return sum;
}

// Writes a warpgroup's sums, two at a time where rows are even: then all pairs start at a multiple of 8 bytes.
__device__ void write(Sums& sum, const float* A, const float* B, const int* A_exponents, const int* B_exponents,
                      float* C, int first_row, int first_column, int M, int N, int K)
{
    const int lane = threadIdx.x % 32;
    #pragma unroll
    for (int lower = 0; lower < 2; ++lower) {
        const int row = first_row + threadIdx.x % GROUP / 32 * 16 + lane / 4 + lower * 8;
        if (row >= M) return;
        const int row_exponent = A_exponents[row];
        #pragma unroll
        for (int j = 0; j < BN / 8; ++j) {
            const int column = first_column + j * 8 + lane % 4 * 2;
            float* const two = sum[j] + lower * 2;
            #pragma unroll
            for (int i = 0; i < 2; ++i) {
                if (column + i < N) {
                    two[i] = scalbnf(two[i], -row_exponent - B_exponents[column + i]);
                    if (!isfinite(two[i])) two[i] = dot(A, B, row, column + i, N, K);
                }
            }
            float* const to = C + size_t(row) * N + column;
            if (N % 2 == 0 && column < N) {
                *reinterpret_cast<float2*>(to) = make_float2(two[0], two[1]);
            } else {
                if (column < N) to[0] = two[0];
                if (column + 1 < N) to[1] = two[1];
            }
        }
    }
}

extern __shared__ __align__(1024) half shared[];  // a swizzle repeats after 8 rows of 128 bytes

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N. The maps say where the parts lie and how large they
// are; what a box has beyond is zero.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm(const __grid_constant__ CUtensorMap A_high, const __grid_constant__ CUtensorMap A_low,
     const __grid_constant__ CUtensorMap B_high, const __grid_constant__ CUtensorMap B_low, const float* __restrict__ A,
     const float* __restrict__ B, const int* __restrict__ A_exponents, const int* __restrict__ B_exponents,
     float* __restrict__ C, int M, int N, int K)
{
    __shared__ unsigned long long barriers[2 * STAGES];
    const unsigned full = __cvta_generic_to_shared(barriers);  // the tiles of a stage have come,
    const unsigned empty = full + STAGES * 8;                  // and have been multiplied
    const unsigned stages = __cvta_generic_to_shared(shared);  // of two tiles of A and two of B each, high and low

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
        if (threadIdx.x == 0) produce(A_high, A_low, B_high, B_low, stages, full, empty, M, N, K);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
        const int group_row = consumer * GROUP_M;  // first row of this warpgroup within the block's
        const unsigned a_rows = stages + group_row * BK * HALF;
        Sums sum;
        Stage stage;
        for (int tile = blockIdx.x; tile < tiles_of(M, N); tile += gridDim.x) {
            const Place place = place_of(tile, M, N);
            consume(sum, a_rows, stages + 2 * A_BYTES, full, empty, K, stage);
            write(sum, A, B, A_exponents, B_exponents, C, place.row + group_row, place.column, M, N, K);
        }
    }
}
