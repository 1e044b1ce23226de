// FP32 from Tensor Cores: each factor is split into two TF32 numbers, and their products are added up.
//
// Tensor Cores multiply TF32: floats that keep 11 significant bits of their 24. What rounding to them leaves over is a
// float again, exactly, and rounded itself it holds the next 11 bits or so. So a = a_high + a_low and
// b = b_high + b_low, but for the last bit or two of 24, and
//
//     a · b = a_high · b_high + a_high · b_low + a_low · b_high + a_low · b_low.
//
// The last product is 2^-22 of the first at most, as much as a float may not hold anyway, and is left out.
//
// Tensor Cores add with fewer guard bits than an FFMA has, and cut off what they drop in place of rounding it: errors
// of a long sum all have the same sign, and pile up. So they add up one tile only, the small products first, and FP32
// registers add up the tiles.
//
// What it should buy: three products in TF32 for one in FP32, on units that make eight times as many. A third of what
// cuBLAS makes in TF32 is more than twice what FFMA can make at all. Less what splitting costs: each factor is read
// once more, and written twice. TMA brings the parts, and wgmma multiplies them, as at the top of the hgemm ladder;
// as wgmma takes TF32 along k only, the splitting pass transposes B.
//
// An infinite factor has no parts: what is left of it is no number. Where an output is infinite or no number, it is
// computed once more from the factors themselves.
//
// /// launch
// smallest_arch = "sm_90a"
//
// [[scratch]]
// name = "A_high"
// dtype = "float32"
// shape = ["M", "cdiv(K, V) * V"]
//
// [[scratch]]
// name = "A_low"
// dtype = "float32"
// shape = ["M", "cdiv(K, V) * V"]
//
// [[scratch]]
// name = "B_high"
// dtype = "float32"
// shape = ["N", "cdiv(K, V) * V"]
//
// [[scratch]]
// name = "B_low"
// dtype = "float32"
// shape = ["N", "cdiv(K, V) * V"]
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
// shape = ["N", "cdiv(K, V) * V"]
// box = ["BN", "BK"]
// swizzle = 128
//
// [[tensor_map]]
// name = "B_low_map"
// array = "B_low"
// shape = ["N", "cdiv(K, V) * V"]
// box = ["BN", "BK"]
// swizzle = 128
//
// [[launch]]
// kernel = "split"
// args = ["A", "A_high", "A_low", "M", "K"]
// grid = ["cdiv(M * cdiv(K, V), SPLIT_THREADS)"]
// block = ["SPLIT_THREADS"]
//
// [[launch]]
// kernel = "split_transposed"
// args = ["B", "B_high", "B_low", "K", "N"]
// grid = ["cdiv(N, SQUARE)", "cdiv(K, SQUARE)"]
// block = ["SQUARE", "SPLIT_THREADS // SQUARE"]
//
// [[launch]]
// kernel = "gemm"
// args = ["A_high_map", "A_low_map", "B_high_map", "B_low_map", "A", "B", "C", "M", "N", "K"]
// grid = ["cdiv(cdiv(M, BM) * cdiv(N, BN), cdiv(cdiv(M, BM) * cdiv(N, BN), SMS))"]
// block = ["THREADS"]
// shared = "SHARED_BYTES"
// ///

#include <cuda.h>

constexpr int BM = 128;    // rows of C that a block computes, 64 a warpgroup
constexpr int BN = 128;    // columns of C that a block computes
constexpr int BK = 32;     // steps of k in a tile: a row of it is 128 bytes, all banks, and what a swizzle takes
constexpr int STAGES = 3;  // in shared memory, 64 KiB each: a tile of both parts of A, and of both of B

constexpr int GROUP_ROWS = 16;  // rows of tiles that are computed together

constexpr int GROUP = 128;   // threads of a warpgroup
constexpr int GROUP_M = 64;  // rows that it multiplies at a time
constexpr int CONSUMERS = BM / GROUP_M;  // warpgroups that multiply; one more brings the tiles
constexpr int THREADS = (1 + CONSUMERS) * GROUP;

// Registers of a thread: 65,536 a multiprocessor are 168 for each of 384 threads. (40 + 2 · 232) · 128 are as many.
constexpr int PRODUCER_REGISTERS = 40;
constexpr int CONSUMER_REGISTERS = 232;

constexpr int V = 4;                // floats in 16 bytes: rows of parts are a multiple of them, as TMA asks
constexpr int SPLIT_THREADS = 256;  // threads of a block that splits
constexpr int SQUARE = 32;          // rows and columns of B that it transposes

constexpr int A_BYTES = BM * BK * int(sizeof(float));  // of a tile of one part of A
constexpr int B_BYTES = BN * BK * int(sizeof(float));  // and of B
constexpr int STAGE_BYTES = 2 * A_BYTES + 2 * B_BYTES;
constexpr int SHARED_BYTES = STAGES * STAGE_BYTES;

// The smallest multiple of V that is not below x.
__device__ constexpr int round_up(int x)
{
    return (x + V - 1) / V * V;
}

// The nearest TF32 number: a float whose last 13 bits are 0.
__device__ float to_tf32(float x)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}

// Splits a matrix of rows × columns, row-major, into two of rows × round_up(columns), with zeros where the source has
// nothing. A thread writes V neighbouring floats of both, all at once.
extern "C" __global__ void split(const float* __restrict__ source, float* __restrict__ high, float* __restrict__ low,
                                 int rows, int columns)
{
    const int pieces_a_row = round_up(columns) / V;
    const int piece = blockIdx.x * SPLIT_THREADS + threadIdx.x;
    const int row = piece / pieces_a_row;
    const int column = piece % pieces_a_row * V;
    if (row >= rows) {
        return;
    }

    __align__(16) float values[V] = {};
    const float* const from = source + size_t(row) * columns + column;
    if (columns % V == 0) {
        *reinterpret_cast<float4*>(values) = *reinterpret_cast<const float4*>(from);
    } else {
        #pragma unroll
        for (int i = 0; i < V; ++i) {
            if (column + i < columns) values[i] = from[i];
        }
    }

    __align__(16) float highs[V];
    __align__(16) float lows[V];
    #pragma unroll
    for (int i = 0; i < V; ++i) {
        highs[i] = to_tf32(values[i]);
        lows[i] = to_tf32(values[i] - highs[i]);
    }
    *reinterpret_cast<float4*>(high + size_t(piece) * V) = *reinterpret_cast<const float4*>(highs);
    *reinterpret_cast<float4*>(low + size_t(piece) * V) = *reinterpret_cast<const float4*>(lows);
}

// Splits a matrix of rows × columns, row-major, into two of columns × round_up(rows): transposed.
extern "C" __global__ void split_transposed(const float* __restrict__ source, float* __restrict__ high,
                                            float* __restrict__ low, int rows, int columns)
{
    __shared__ float square[SQUARE][SQUARE + 1];  // one more, and columns are read without bank conflicts
    const int first_row = blockIdx.y * SQUARE;
    const int first_column = blockIdx.x * SQUARE;
    const int length = round_up(rows);  // of a row of the parts

    #pragma unroll
    for (int i = threadIdx.y; i < SQUARE; i += SPLIT_THREADS / SQUARE) {
        const int row = first_row + i;
        const int column = first_column + threadIdx.x;
        const bool inside = row < rows && column < columns;
        square[i][threadIdx.x] = inside ? source[size_t(row) * columns + column] : 0.0f;
    }
    __syncthreads();

    #pragma unroll
    for (int i = threadIdx.y; i < SQUARE; i += SPLIT_THREADS / SQUARE) {
        const int row = first_row + threadIdx.x;
        const int column = first_column + i;
        if (row < length && column < columns) {
            const float value = square[threadIdx.x][i];
            const float rounded = to_tf32(value);
            high[size_t(column) * length + row] = rounded;
            low[size_t(column) * length + row] = to_tf32(value - rounded);
        }
    }
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
// Eight rows are an atom of the swizzle, 1024 bytes: so much further the next eight rows lie. All are in units of 16
// bytes.
__device__ unsigned long long describe(unsigned address)
{
    constexpr unsigned long long SWIZZLE_128 = 1ull << 62;
    constexpr unsigned long long ATOM = 8 * 128 >> 4;
    return (address & 0x3FFFF) >> 4 | ATOM << 32 | SWIZZLE_128;
}

// Of a warpgroup's 64 × 128 sums, a thread holds 16 times four: of the columns from 8·j on.
using Sums = float[BN / 8][4];

// wgmma: sum (+)= a · b, with a of 64 × 8, b of 8 × 128, both along k; without `add` the sums begin at 0.
__device__ void multiply_add(Sums& sum, unsigned long long a, unsigned long long b, bool add)
{
#define SUMS(j) "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
    asm volatile(
        "{\n"
        ".reg .pred add;\n"
        "setp.ne.b32 add, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, add, 1, 1;\n"
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

// A warpgroup's rows of a tile of A times a tile of B, 8 steps of k at a time, which are 32 bytes of a row.
__device__ void multiply(Sums& sum, unsigned a_rows, unsigned b_tile, bool add)
{
    #pragma unroll
    for (int step = 0; step < BK / 8; ++step) {
        multiply_add(sum, describe(a_rows + step * 32), describe(b_tile + step * 32), add || step > 0);
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
            start_box(b_tiles, B_high, place.column, k, barrier);
            start_box(b_tiles + B_BYTES, B_low, place.column, k, barrier);
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
__device__ void write(Sums& sum, const float* A, const float* B, float* C, int first_row, int first_column, int M,
                      int N, int K)
{
    const int lane = threadIdx.x % 32;
    #pragma unroll
    for (int lower = 0; lower < 2; ++lower) {
        const int row = first_row + threadIdx.x % GROUP / 32 * 16 + lane / 4 + lower * 8;
        if (row >= M) return;
        #pragma unroll
        for (int j = 0; j < BN / 8; ++j) {
            const int column = first_column + j * 8 + lane % 4 * 2;
            float* const two = sum[j] + lower * 2;
            #pragma unroll
            for (int i = 0; i < 2; ++i) {
                if (!isfinite(two[i]) && column + i < N) two[i] = dot(A, B, row, column + i, N, K);
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

extern __shared__ __align__(1024) float shared[];  // a swizzle repeats after 8 rows of 128 bytes

// C = A · B, all row-major: A is M × K, B is K × N, C is M × N. The maps say where the parts lie and how large they
// are, those of B transposed; what a box has beyond is zero.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm(const __grid_constant__ CUtensorMap A_high, const __grid_constant__ CUtensorMap A_low,
     const __grid_constant__ CUtensorMap B_high, const __grid_constant__ CUtensorMap B_low, const float* __restrict__ A,
     const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
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
        const unsigned a_rows = stages + group_row * BK * sizeof(float);
        Sums sum;
        Stage stage;
        for (int tile = blockIdx.x; tile < tiles_of(M, N); tile += gridDim.x) {
            const Place place = place_of(tile, M, N);
            consume(sum, a_rows, stages + 2 * A_BYTES, full, empty, K, stage);
            write(sum, A, B, C, place.row + group_row, place.column, M, N, K);
        }
    }
}
