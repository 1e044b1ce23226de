// Mistake: all threads of a warpgroup give a stage back, where one arrival of each warpgroup is counted.
//
// /// launch
// smallest_arch = "sm_90a"
//
// [[tensor_map]]
// name = "Q_map"
// array = "Q"
// shape = ["B * H", "S", "D"]
// box = ["1", "SIDE", "SIDE"]
// swizzle = 128
//
// [[tensor_map]]
// name = "K_map"
// array = "K"
// shape = ["B * H", "S", "D"]
// box = ["1", "SIDE", "SIDE"]
// swizzle = 128
//
// [[tensor_map]]
// name = "V_map"
// array = "V"
// shape = ["B * H", "S", "D"]
// box = ["1", "SIDE", "SIDE"]
// swizzle = 128
//
// [[launch]]
// kernel = "attention<64>"
// when = "D == 64"
// args = ["Q_map", "K_map", "V_map", "O", "B * H", "S", "scale", "causal"]
// grid = ["B * H * cdiv(S, CONSUMERS * SIDE)"]
// block = ["THREADS"]
// shared = "(CONSUMERS + STAGES) * SIDE * 64 * 2"
//
// [[launch]]
// kernel = "attention<128>"
// when = "D == 128"
// args = ["Q_map", "K_map", "V_map", "O", "B * H", "S", "scale", "causal"]
// grid = ["B * H * cdiv(S, CONSUMERS * SIDE)"]
// block = ["THREADS"]
// shared = "(CONSUMERS + STAGES) * SIDE * 128 * 2"
// ///

#include <cuda.h>
#include <cuda_fp16.h>

constexpr int SIDE = 64;      // queries of a warpgroup, keys of a tile, and columns of a box
constexpr int STAGES = 4;     // tiles of K and V in shared memory, in turn
constexpr int CONSUMERS = 2;  // warpgroups that compute; one more brings tiles
constexpr int THREADS = (1 + CONSUMERS) * 128;

using Sums = float[8][4];  // a thread's part of 64 × 64: rows lane / 4 and + 8, two neighbours of each eight columns

__device__ unsigned shared_address(const void* place)
{
    return __cvta_generic_to_shared(place);
}

__device__ void make_barrier(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ void arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ void expect_bytes(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Waits until the phase of that parity is over.
__device__ void wait_for(unsigned barrier, int parity)
{
    asm volatile("{\n.reg .pred over;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@!over bra again;\n}"
                 ::"r"(barrier), "r"(parity) : "memory");
}

// Starts to copy 64 rows of a head: boxes of 64 × 64 behind one another.
template <int D>
__device__ void start_tile(unsigned target, const CUtensorMap& map, int head, int first, unsigned barrier)
{
    expect_bytes(barrier, SIDE * D * 2);
    for (int column = 0; column < D; column += SIDE) {
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(target + column * SIDE * 2), "l"(&map), "r"(column),
                     "r"(first), "r"(head), "r"(barrier) : "memory");
    }
}

// An operand whose rows of 128 bytes are swizzled: 1024 bytes for each eight of them.
__device__ unsigned long long describe(unsigned address)
{
    return (address & 0x3FFFF) >> 4 | 1024ull >> 4 << 32 | 1ull << 62;
}

#define SUMS(j) "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]), "+f"(sums[j][3])
#define ALL_SUMS SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7)
#define PRODUCT \
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "

// Starts scores = q · kᵀ.
template <int D>
__device__ void start_scores(Sums& sums, unsigned q, unsigned k)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    #pragma unroll
    for (int d = 0; d < D; d += 16) {
        const int at = d / SIDE * SIDE * SIDE * 2 + d % SIDE * 2;
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n" PRODUCT "%32, %33, add, 1, 1, 0, 0;\n}"
                     : ALL_SUMS : "l"(describe(q + at)), "l"(describe(k + at)), "r"(d));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Starts outputs += p · v.
template <int D>
__device__ void start_outputs(Sums (&outputs)[D / SIDE], const unsigned (&p)[4][4], unsigned v)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    #pragma unroll
    for (int key = 0; key < SIDE; key += 16) {
        const unsigned (&weights)[4] = p[key / 16];
        #pragma unroll
        for (int box = 0; box < D / SIDE; ++box) {
            Sums& sums = outputs[box];
            asm volatile(PRODUCT "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                         : ALL_SUMS
                         : "r"(weights[0]), "r"(weights[1]), "r"(weights[2]), "r"(weights[3]),
                           "l"(describe(v + (box * SIDE + key) * SIDE * 2)));
        }
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until all but the last PENDING groups are done.
template <int PENDING>
__device__ void wait_for_products()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// Warpgroups take turns to begin: barrier 1 + consumer is over when this one waits and the other one has arrived.
__device__ void wait_for_turn(int consumer)
{
    asm volatile("bar.sync %0, %1;" ::"r"(1 + consumer), "n"(CONSUMERS * 128) : "memory");
}

__device__ void pass_turn(int consumer)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(1 + (consumer + 1) % CONSUMERS), "n"(CONSUMERS * 128) : "memory");
}

// The softmax of a thread's two rows.
struct Softmax {
    float largest[2] = {-INFINITY, -INFINITY}, totals[2] = {}, corrections[2];

    // Makes weights of a tile of scores. Keys from `ends` on, counted from this thread's first one, do not count.
    __device__ void weigh(Sums& scores, float factor, const int (&ends)[2])
    {
        #pragma unroll
        for (int row = 0; row < 2; ++row) {
            float now = largest[row];
            #pragma unroll
            for (int i = 0; i < 16; ++i) {
                float& score = scores[i / 2][row * 2 + i % 2];
                score = i / 2 * 8 + i % 2 < ends[row] ? score * factor : -INFINITY;
                now = fmaxf(now, score);
            }
            now = fmaxf(now, __shfl_xor_sync(0xffffffff, now, 1));
            now = fmaxf(now, __shfl_xor_sync(0xffffffff, now, 2));
            corrections[row] = exp2f(largest[row] - now);
            largest[row] = now;
            totals[row] *= corrections[row];
            #pragma unroll
            for (int i = 0; i < 16; ++i) {
                float& score = scores[i / 2][row * 2 + i % 2];
                score = exp2f(score - now);
                totals[row] += score;
            }
        }
    }
};

// Weights as halves, as wgmma takes a first operand.
__device__ void round_weights(unsigned (&p)[4][4], const Sums& weights)
{
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
        const float* const pair = weights[i / 2] + i % 2 * 2;
        const half2 both = __floats2half2_rn(pair[0], pair[1]);
        p[i / 4][i % 4] = *reinterpret_cast<const unsigned*>(&both);
    }
}

template <int D>
__global__ void __launch_bounds__(THREADS, 1)
attention(const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K,
          const __grid_constant__ CUtensorMap V, half* O, int heads, int S, float scale, int causal)
{
    constexpr int BYTES = SIDE * D * 2;  // of a tile
    extern __shared__ __align__(1024) half shared[];
    __shared__ unsigned long long full[STAGES], empty[STAGES], queries[CONSUMERS];
    const unsigned q_tiles = shared_address(shared), tiles = q_tiles + CONSUMERS * BYTES;
    const int head = blockIdx.x % heads, first = blockIdx.x / heads * CONSUMERS * SIDE;
    const int count = ((causal ? min(S, first + CONSUMERS * SIDE) : S) + SIDE - 1) / SIDE;  // tiles of keys

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            make_barrier(shared_address(&full[stage]), 1);
            make_barrier(shared_address(&empty[stage]), CONSUMERS);
        }
        for (int consumer = 0; consumer < CONSUMERS; ++consumer) {
            make_barrier(shared_address(&queries[consumer]), 1);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    int step = 0;  // tiles of K and V until now
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x != 0) return;
        for (int consumer = 0; consumer < CONSUMERS; ++consumer) {
            start_tile<D>(q_tiles + consumer * BYTES, Q, head, first + consumer * SIDE,
                          shared_address(&queries[consumer]));
        }
        const auto bring = [&](const CUtensorMap& map, int tile) {
            const int stage = step % STAGES;
            wait_for(shared_address(&empty[stage]), step / STAGES % 2 ^ 1);
            start_tile<D>(tiles + stage * BYTES, map, head, tile * SIDE, shared_address(&full[stage]));
            ++step;
        };
        bring(K, 0);
        for (int tile = 1; tile < count; ++tile) {
            bring(K, tile);
            bring(V, tile - 1);
        }
        bring(V, count - 1);
        return;
    }

    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int consumer = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
    const int query = first + consumer * SIDE + threadIdx.x % 128 / 32 * 16 + lane / 4;  // and the eighth behind it
    const unsigned q = q_tiles + consumer * BYTES;
    const float factor = scale * 1.44269504f;
    const auto await = [&](int step) { wait_for(shared_address(&full[step % STAGES]), step / STAGES % 2); };
    const auto release = [&](int step) {
        arrive(shared_address(&empty[step % STAGES]));
    };
    const auto place = [&](int step) { return tiles + step % STAGES * BYTES; };

    Sums scores, outputs[D / SIDE] = {};
    unsigned p[4][4];
    Softmax softmax;
    int ends[2];  // of the keys that count, from this thread's first key of a tile on
    #pragma unroll
    for (int row = 0; row < 2; ++row) {
        ends[row] = (causal ? min(S, query + row * 8 + 1) : S) - lane % 4 * 2;
    }
    const auto next_keys = [&] { ends[0] -= SIDE, ends[1] -= SIDE; };

    if (consumer == CONSUMERS - 1) pass_turn(consumer);
    wait_for(shared_address(&queries[consumer]), 0);
    await(step);
    start_scores<D>(scores, q, place(step));
    wait_for_products<0>();
    release(step++);
    softmax.weigh(scores, factor, ends);
    round_weights(p, scores);

    for (int tile = 1; tile < count; ++tile) {
        next_keys();
        await(step);
        wait_for_turn(consumer);
        start_scores<D>(scores, q, place(step));
        await(step + 1);
        start_outputs<D>(outputs, p, place(step + 1));
        pass_turn(consumer);
        wait_for_products<1>();  // scores
        release(step++);
        softmax.weigh(scores, factor, ends);
        wait_for_products<0>();  // outputs
        release(step++);
        #pragma unroll
        for (int i = 0; i < D / 2; ++i) {
            outputs[i / 32][i / 4 % 8][i % 4] *= softmax.corrections[i / 2 % 2];
        }
        round_weights(p, scores);
    }
    await(step);
    start_outputs<D>(outputs, p, place(step));
    wait_for_products<0>();
    release(step);
    if (consumer == 0) wait_for_turn(consumer);

    #pragma unroll
    for (int row = 0; row < 2; ++row) {
        float total = softmax.totals[row];
        total += __shfl_xor_sync(0xffffffff, total, 1);
        total += __shfl_xor_sync(0xffffffff, total, 2);
        if (query + row * 8 < S) {
            half* const to = O + (size_t(head) * S + query + row * 8) * D + lane % 4 * 2;
            #pragma unroll
            for (int j = 0; j < D / 8; ++j) {
                const float* const pair = outputs[j / 8][j % 8] + row * 2;
                *reinterpret_cast<half2*>(to + j * 8) = __floats2half2_rn(pair[0] / total, pair[1] / total);
            }
        }
    }
}
