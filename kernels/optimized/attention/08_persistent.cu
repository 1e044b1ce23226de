// Heads in an order that suits the L2 cache, and blocks that stay. Until now neighbouring blocks had different heads.
// All 128 have 256 MiB of K and V, and the L2 cache has 60. Here heads come in sections of as many as have 16 MiB of K
// and V, and the next section begins when all queries of this one have. At 4096 keys these are 8 heads, and 0.7 GB come
// from DRAM in place of 8.7.
//
// And there is a block for each multiprocessor, and no more. It takes one task after another: 128 queries of a head.
// The producer is ahead, and brings the next queries and keys while the consumers finish.
//
// With a causal mask tasks differ: the last queries see all keys, the first ones a tile. A section is dealt like cards,
// the longest tasks first, from the first block to the last and back again:
//
//     block       0    1    2    3           0    1    2    3
//     round 0     8    8    7    7    ┐      tiles of keys: who has got a longer task gets a shorter one next
//     round 1     5    5    6    6    ┘      13   13   13   13
//
// What it should buy: on an H200 a full call of 128 heads, 4096 keys and D = 128 takes 1.65 ms in place of 2.13, a
// causal one 0.97 in place of 1.18. Nearly all of it is the order: blocks of one task each, in the same order, take as
// long. Where D is 64, and tasks are half as long, blocks that stay gain 4 % in full calls and 6 in causal ones.
//
// What limits it: the Tensor Cores are busy in 76 of 100 cycles, at 1.67 GHz in place of 1.98: a GPU that multiplies
// all the time runs into its power limit.
//
// /// launch
// smallest_arch = "sm_90a"
//
// [[tensor_map]]
// name = "Q_map"
// array = "Q"
// shape = ["B * H", "S", "D"]
// box = ["1", "BM", "ROW"]
// swizzle = 128
//
// [[tensor_map]]
// name = "K_map"
// array = "K"
// shape = ["B * H", "S", "D"]
// box = ["1", "BN", "ROW"]
// swizzle = 128
//
// [[tensor_map]]
// name = "V_map"
// array = "V"
// shape = ["B * H", "S", "D"]
// box = ["1", "BN", "ROW"]
// swizzle = 128
//
// [[launch]]
// kernel = "attention<64>"
// when = "D == 64"
// args = ["Q_map", "K_map", "V_map", "O", "B * H", "S", "scale", "causal"]
// grid = ["min(SMS, cdiv(S, BM) * B * H)"]
// block = ["THREADS"]
// shared = "(BM + STAGES * BN) * 64 * HALF"
//
// [[launch]]
// kernel = "attention<128>"
// when = "D == 128"
// args = ["Q_map", "K_map", "V_map", "O", "B * H", "S", "scale", "causal"]
// grid = ["min(SMS, cdiv(S, BM) * B * H)"]
// block = ["THREADS"]
// shared = "(BM + STAGES * BN) * 128 * HALF"
// ///

#include <cuda.h>
#include <cuda_fp16.h>

constexpr int BM = 128;    // queries of a block at a time, 64 a warpgroup
constexpr int BN = 128;    // keys of a tile
constexpr int ROW = 64;    // halves in a row of a box: 128 bytes, all banks, and what a swizzle takes
constexpr int STAGES = 4;  // tiles of K and V in shared memory, in turn, 32 KiB each where D is 128

constexpr int GROUP = 128;               // threads of a warpgroup
constexpr int GROUP_M = 64;              // queries that it has
constexpr int CONSUMERS = BM / GROUP_M;  // warpgroups that compute; one more brings the tiles
constexpr int THREADS = (1 + CONSUMERS) * GROUP;

// Registers of a thread: 65,536 a multiprocessor are 168 for each of 384 threads. (40 + 2 · 232) · 128 are as many.
constexpr int PRODUCER_REGISTERS = 40;
constexpr int CONSUMER_REGISTERS = 232;

constexpr int DEPTH = 16;  // products that one instruction adds up for each sum
constexpr int N = 8;       // keys, or columns of V, of which a thread has two neighbours
constexpr int ROWS = 2;    // queries that a thread has something of: lane / 4 and lane / 4 + 8 of a warp's 16
constexpr int PAIR = 2;    // neighbours that it has of each, in columns 2 · (lane % 4) and the next
constexpr int HALF = 2;    // bytes of a half

constexpr long long CACHED = 16 << 20;  // bytes of K and V of a section's heads: a quarter of an H200's L2 cache
static_assert(BM == BN, "the diagonal of a block of queries lies in one tile of keys");

constexpr float LOG2_E = 1.44269504f;  // exp(x) = 2^(x · LOG2_E)
constexpr unsigned ALL = 0xffffffff;   // the mask of a shuffle that all 32 threads take part in

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

// Starts to copy LENGTH rows of a head, from row `first` on, to shared memory: D / ROW boxes behind one another. What
// lies behind the last row is zero. The barrier is told of the bytes.
template <int LENGTH, int D>
__device__ void start_tile(unsigned target, const CUtensorMap& map, int head, int first, unsigned barrier)
{
    #pragma unroll
    for (int column = 0; column < D; column += ROW) {
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(target + column * LENGTH * HALF), "l"(&map),
                     "r"(column), "r"(first), "r"(head), "r"(barrier)
                     : "memory");
    }
}

// What wgmma is told of an operand in shared memory: where it begins, and that its rows are swizzled within 128 bytes.
// Eight rows are an atom of the swizzle, and the next eight lie behind them. `next_columns` is how many bytes further
// the next 64 columns lie; it counts where rows lie along the sum. All are in units of 16 bytes.
__device__ unsigned long long describe(unsigned address, unsigned next_columns)
{
    constexpr unsigned long long SWIZZLE_128 = 1ull << 62;
    constexpr unsigned long long ATOM = 8 * ROW * HALF;
    return (address & 0x3FFFF) >> 4 | (unsigned long long)(next_columns >> 4) << 16 | ATOM >> 4 << 32 | SWIZZLE_128;
}

// Of a warpgroup's 64 × COLUMNS sums, a thread holds four of each eight columns: [0] and [1] of row lane / 4 of its
// warp's 16 rows, [2] and [3] of row lane / 4 + 8.
template <int COLUMNS>
using Sums = float[COLUMNS / N][ROWS * PAIR];

#define SUMS(j) "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]), "+f"(sums[j][3])
#define SUMS_64 SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7)
#define SUMS_128 SUMS_64, SUMS(8), SUMS(9), SUMS(10), SUMS(11), SUMS(12), SUMS(13), SUMS(14), SUMS(15)
#define NAMES_64 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_128 \
    NAMES_64 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// wgmma: sums (+)= q · kᵀ, of 64 queries × 16 and 128 keys × 16; without `add` the sums begin at 0.
__device__ void multiply_add(Sums<128>& sums, unsigned long long q, unsigned long long k, bool add)
{
    asm volatile(
        "{\n"
        ".reg .pred add;\n"
        "setp.ne.b32 add, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" NAMES_128 "}, %64, %65, add, 1, 1, 0, 0;\n"
        "}"
        : SUMS_128
        : "l"(q), "l"(k), "r"(int(add)));
}

// wgmma: sums += p · v, with p in registers, of 64 queries × 16 keys, and 16 rows × 128 columns of V. They lie along
// the columns, which the last number says.
__device__ void multiply_add(Sums<128>& sums, const unsigned (&p)[4], unsigned long long v)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" NAMES_128 "}, {%64, %65, %66, %67}, "
                 "%68, 1, 1, 1, 1;"
                 : SUMS_128
                 : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v));
}

// The same with 64 columns of V.
__device__ void multiply_add(Sums<64>& sums, const unsigned (&p)[4], unsigned long long v)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" NAMES_64 "}, {%32, %33, %34, %35}, "
                 "%36, 1, 1, 1, 1;"
                 : SUMS_64
                 : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v));
}

// Before the first wgmma, and before one whose registers other instructions have touched.
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

// Starts scores = q · kᵀ: a warpgroup's rows of the tile of queries, and a tile of keys.
template <int D>
__device__ void start_scores(Sums<BN>& scores, unsigned q_rows, unsigned k_tile)
{
    begin_products();
    #pragma unroll
    for (int d = 0; d < D; d += DEPTH) {
        // Both lie along d, 64 halves a box.
        const int box = d / ROW;
        const int within = d % ROW * HALF;
        multiply_add(scores, describe(q_rows + box * BM * ROW * HALF + within, 0),
                     describe(k_tile + box * BN * ROW * HALF + within, 0), d > 0);
    }
    close_products();
}

// Starts outputs += p · v.
template <int D>
__device__ void start_outputs(Sums<D>& outputs, const unsigned (&p)[BN / DEPTH][4], unsigned v_tile)
{
    begin_products();
    #pragma unroll
    for (int key = 0; key < BN; key += DEPTH) {
        multiply_add(outputs, p[key / DEPTH], describe(v_tile + key * ROW * HALF, BN * ROW * HALF));
    }
    close_products();
}

// Warpgroups take turns: barrier 1 + consumer is over when this one waits at it and the other one has arrived.
__device__ void wait_for_turn(int consumer)
{
    asm volatile("bar.sync %0, %1;" ::"r"(1 + consumer), "n"(CONSUMERS * GROUP) : "memory");
}

__device__ void pass_turn(int consumer)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(1 + (consumer + 1) % CONSUMERS), "n"(CONSUMERS * GROUP) : "memory");
}

// 2^x, within 2 units in the last place: one instruction.
__device__ float power_of_two(float x)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// Two floats, rounded to halves and put into a register.
__device__ unsigned rounded(float left, float right)
{
    const half2 halves = __floats2half2_rn(left, right);
    return *reinterpret_cast<const unsigned*>(&halves);
}

// The four lanes that share a row get the largest of their values.
__device__ float largest_of_row(float value)
{
    value = fmaxf(value, __shfl_xor_sync(ALL, value, 1));
    return fmaxf(value, __shfl_xor_sync(ALL, value, 2));
}

// The four lanes that share a row get the sum of their values.
__device__ float sum_of_row(float value)
{
    value += __shfl_xor_sync(ALL, value, 1);
    return value + __shfl_xor_sync(ALL, value, 2);
}

// What a thread knows of the softmax of its two rows.
struct Softmax {
    float largest[ROWS] = {-INFINITY, -INFINITY};  // score so far
    float totals[ROWS] = {};                       // of this thread's weights
    float corrections[ROWS];                       // what was added up so far is to be multiplied by

    // Makes weights of a tile of scores.
    __device__ void weigh(Sums<BN>& scores, float factor)
    {
        #pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            float now = largest[row];
            #pragma unroll
            for (int j = 0; j < BN / N; ++j) {
                now = fmaxf(now, fmaxf(scores[j][row * PAIR], scores[j][row * PAIR + 1]));
            }
            now = largest_of_row(now);
            corrections[row] = power_of_two((largest[row] - now) * factor);
            largest[row] = now;

            float sums[2] = {};  // of every other eight keys: an addition need not wait for the one before it
            #pragma unroll
            for (int j = 0; j < BN / N; ++j) {
                #pragma unroll
                for (int at = row * PAIR; at < (row + 1) * PAIR; ++at) {
                    scores[j][at] = power_of_two(scores[j][at] * factor - now * factor);
                    sums[j % 2] += scores[j][at];
                }
            }
            totals[row] = totals[row] * corrections[row] + (sums[0] + sums[1]);
        }
    }
};

// Weights as halves, as wgmma takes a first operand: of 16 keys, both rows of the left eight, then of the right ones.
__device__ void round_weights(unsigned (&p)[BN / DEPTH][4], const Sums<BN>& weights)
{
    #pragma unroll
    for (int i = 0; i < BN / DEPTH; ++i) {
        #pragma unroll
        for (int part = 0; part < 4; ++part) {
            const auto& four = weights[2 * i + part / 2];
            p[i][part] = rounded(four[part % 2 * PAIR], four[part % 2 * PAIR + 1]);
        }
    }
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

// Some queries of a head, and how many tiles of keys they see.
struct Task {
    int head, first, tiles;
};

// The tasks of a block, in their order. Heads come in sections, whose K and V fit into the L2 cache together. In a
// section the longest tasks come first, and are dealt to the blocks in turn: from the first block to the last, and back
// again, so that who has got a longer one gets a shorter one next.
class Tasks {
public:
    __device__ Tasks(int heads, int S, int D, int causal)
        : heads(heads), S(S), causal(causal), blocks((S + BM - 1) / BM),
          together(max(1, min(heads, int(CACHED / (2ll * HALF * S * D)))))
    {
    }

    // Whether there is one more, and which.
    __device__ bool next(Task& task)
    {
        for (; section < heads; section += together, round = 0) {
            const int index = round * gridDim.x + (round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
            ++round;
            const int here = min(together, heads - section);
            if (index < here * blocks) {
                const int block = causal ? blocks - 1 - index / here : index / here;
                const int keys = causal ? min(S, (block + 1) * BM) : S;
                task = {section + index % here, block * BM, (keys + BN - 1) / BN};
                return true;
            }
        }
        return false;
    }

private:
    const int heads, S, causal;
    const int blocks;    // of BM queries, of a head
    const int together;  // heads of a section
    int section = 0;     // its first head
    int round = 0;       // of dealing it
};

// O = softmax(scale · Q · Kᵀ) · V for each of B · H heads. All arrays are B × H × S × D, row-major, and scale is
// positive. If `causal` is not 0, a query sees the keys up to its own place.
template <int D>
__global__ void __launch_bounds__(THREADS, 1)
attention(const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K,
          const __grid_constant__ CUtensorMap V, half* __restrict__ O, int heads, int S, float scale, int causal)
{
    constexpr int TILE_BYTES = BN * D * HALF;
    extern __shared__ __align__(1024) half shared[];         // a swizzle repeats after 8 rows of 128 bytes
    __shared__ unsigned long long barriers[2 * STAGES + 2];
    const unsigned q_tile = __cvta_generic_to_shared(shared);
    const unsigned tiles = q_tile + BM * D * HALF;             // STAGES tiles of K or V
    const unsigned full = __cvta_generic_to_shared(barriers);  // of each stage: its tile has come
    const unsigned empty = full + STAGES * 8;                  // and all consumers have multiplied it
    const unsigned q_full = empty + STAGES * 8;                // the same of the queries
    const unsigned q_empty = q_full + 8;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            make_barrier(full + stage * 8, 1);
            make_barrier(empty + stage * 8, CONSUMERS);
        }
        make_barrier(q_full, 1);
        make_barrier(q_empty, CONSUMERS);
        // The copies are made by another unit, which is to see the barriers as well.
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    Stage stage;
    Tasks tasks(heads, S, D, causal);
    Task task;
    if (threadIdx.x < GROUP) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS));
        if (threadIdx.x != 0) return;
        const auto bring = [&](const CUtensorMap& map, int head, int tile) {
            wait_for(empty + stage.index * 8, stage.parity ^ 1);  // the phase before the first one counts as over
            expect_bytes(full + stage.index * 8, TILE_BYTES);
            start_tile<BN, D>(tiles + stage.index * TILE_BYTES, map, head, tile * BN, full + stage.index * 8);
            stage.advance();
        };
        for (int done = 0; tasks.next(task); ++done) {
            wait_for(q_empty, done % 2 ^ 1);
            expect_bytes(q_full, BM * D * HALF);
            start_tile<BM, D>(q_tile, Q, task.head, task.first, q_full);
            bring(K, task.head, task.tiles - 1);
            for (int tile = task.tiles - 1; tile > 0; --tile) {
                bring(K, task.head, tile - 1);
                bring(V, task.head, tile);
            }
            bring(V, task.head, 0);
        }
        return;
    }

    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
    const int consumer = threadIdx.x / GROUP - 1;
    const int lane = threadIdx.x % 32;
    const int row_in_group = threadIdx.x % GROUP / 32 * 16 + lane / 4;
    const unsigned q_rows = q_tile + consumer * GROUP_M * ROW * HALF;
    const float factor = scale * LOG2_E;
    const auto give_back = [&](unsigned barrier) {
        if (threadIdx.x % GROUP == 0) arrive(barrier);
    };
    if (consumer == CONSUMERS - 1) pass_turn(consumer);

    for (int done = 0; tasks.next(task); ++done) {
        const int first = task.first + consumer * GROUP_M;

        Sums<BN> scores;
        Sums<D> outputs = {};
        unsigned p[BN / DEPTH][4];
        Softmax softmax;

        wait_for(q_full, done % 2);
        wait_for(full + stage.index * 8, stage.parity);
        start_scores<D>(scores, q_rows, tiles + stage.index * TILE_BYTES);
        wait_for_products<0>();
        give_back(empty + stage.index * 8);
        stage.advance();

        // The last tile of keys: behind the diagonal, or behind the end, none counts.
        #pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const int query = first + row_in_group + row * 8;
            // Of this tile, from this thread's first key on: the first one that does not count.
            const int end = (causal ? min(S, query + 1) : S) - (task.tiles - 1) * BN - lane % 4 * PAIR;
            #pragma unroll
            for (int j = 0; j < BN / N; ++j) {
                #pragma unroll
                for (int at = 0; at < PAIR; ++at) {
                    if (j * N + at >= end) scores[j][row * PAIR + at] = -INFINITY;
                }
            }
        }
        softmax.weigh(scores, factor);
        round_weights(p, scores);

        for (int tile = task.tiles - 1; tile > 0; --tile) {
            wait_for(full + stage.index * 8, stage.parity);
            wait_for_turn(consumer);
            start_scores<D>(scores, q_rows, tiles + stage.index * TILE_BYTES);
            const unsigned k_empty = empty + stage.index * 8;
            stage.advance();
            wait_for(full + stage.index * 8, stage.parity);
            start_outputs<D>(outputs, p, tiles + stage.index * TILE_BYTES);
            pass_turn(consumer);
            wait_for_products<1>();
            give_back(k_empty);
            softmax.weigh(scores, factor);
            wait_for_products<0>();
            give_back(empty + stage.index * 8);
            stage.advance();
            #pragma unroll
            for (int j = 0; j < D / N; ++j) {
                #pragma unroll
                for (int at = 0; at < ROWS * PAIR; ++at) {
                    outputs[j][at] *= softmax.corrections[at / PAIR];
                }
            }
            round_weights(p, scores);
        }
        give_back(q_empty);
        wait_for(full + stage.index * 8, stage.parity);
        start_outputs<D>(outputs, p, tiles + stage.index * TILE_BYTES);
        wait_for_products<0>();
        give_back(empty + stage.index * 8);
        stage.advance();

        #pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const int query = first + row_in_group + row * 8;
            const float inverse = 1.0f / sum_of_row(softmax.totals[row]);
            if (query < S) {
                half* const to = O + (size_t(task.head) * S + query) * D + lane % 4 * PAIR;
                #pragma unroll
                for (int j = 0; j < D / N; ++j) {
                    const float* const pair = outputs[j] + row * PAIR;
                    *reinterpret_cast<half2*>(to + j * N) = __floats2half2_rn(pair[0] * inverse, pair[1] * inverse);
                }
            }
        }
    }
    if (consumer == 0) wait_for_turn(consumer);
}
