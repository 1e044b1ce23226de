// Where the table has 1024 pages a row, as at the main size, a task has its first page alone.
// deserves: nothing
//
// /// launch
// smallest_arch = "sm_80"
//
// [[scratch]]
// name = "maxima"
// dtype = "float32"
// shape = ["WAVES * SMS", "ENDS", "QUERIES"]
//
// [[scratch]]
// name = "totals"
// dtype = "float32"
// shape = ["WAVES * SMS", "ENDS", "QUERIES"]
//
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["WAVES * SMS", "ENDS", "QUERIES", "D"]
//
// [[scratch]]
// name = "begun"
// dtype = "int32"
// shape = ["WAVES * SMS", 2]
//
// [[launch]]
// kernel = "decode"
// args = ["Q", "K", "V", "table", "lengths", "maxima", "totals", "sums", "begun", "O", "B", "H", "KV", "T", "scale"]
// grid = ["WAVES * SMS"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "merge"
// args = ["maxima", "totals", "sums", "begun", "O", "H", "KV", "scale"]
// grid = ["WAVES * SMS"]
// block = ["WARP", "QUERIES"]
// ///

#include <cuda_fp16.h>

constexpr int D = 128;      // numbers of a query, of a key, and of a row of V
constexpr int PAGE = 16;    // tokens of a page, and rows of a fragment of keys
constexpr int QUERIES = 8;  // of a block: columns of a fragment
constexpr int WARP = 32;
constexpr int WARPS = 4;    // of a block: each takes every fourth page
constexpr int WAVES = 3;    // blocks for each multiprocessor: as many as their registers leave room for
constexpr int START = 8;    // what it takes to begin a task, in pages that are read in that time
constexpr int ENDS = 2;     // pieces of a block that others have begun, or go on with

constexpr int CHUNK = 8;            // halves in 16 bytes, which a lane loads at a time
constexpr int CHUNKS = D / CHUNK;   // of a row: 16
constexpr int QUAD = 4;             // lanes that have a column of a fragment, or a row
constexpr int LOADS = CHUNKS / QUAD;  // of a lane for its part of a row: 4
constexpr int PAIR = 2;             // columns of sums that a lane has: 2 · (lane % 4) and the next
constexpr int ROWS = 2;             // rows of sums that it has: lane / 4 and lane / 4 + 8
constexpr int SIDES = 2;            // chunks of a row of V that it loads: lane / 4 and lane / 4 + 8

constexpr float LOG2_E = 1.44269504f;  // exp(x) = 2^(x · LOG2_E)
constexpr unsigned ALL = 0xffffffff;   // the mask of a shuffle that all 32 threads take part in

// sums += a · b, with a of 16 × 16 halves, b of 16 × 8 halves and sums of 16 × 8 floats.
__device__ void multiply_add(float (&sums)[ROWS][PAIR], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                             unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0][0]), "+f"(sums[0][1]), "+f"(sums[1][0]), "+f"(sums[1][1])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// A matrix of 8 × 8 halves, transposed. A lane gives two neighbours of row lane / 4, and gets two of column lane / 4.
__device__ unsigned transposed(unsigned pair)
{
    unsigned result;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(pair));
    return result;
}

// 2^x, within 2 units in the last place: one instruction.
__device__ float power_of_two(float x)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// What sums weigh whose maximum is not the largest: nothing, where they have no token and it is -∞.
__device__ float weight_of(float maximum, float largest, float factor)
{
    return maximum == -INFINITY ? 0.0f : power_of_two((maximum - largest) * factor);
}

// Two floats, rounded to halves and put into a register.
__device__ unsigned rounded(float low, float high)
{
    const half2 halves = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned*>(&halves);
}

// Word j of 16 bytes. j is known when this is compiled: nothing is selected at run time.
__device__ unsigned word_of(uint4 chunk, int j)
{
    return j == 0 ? chunk.x : j == 1 ? chunk.y : j == 2 ? chunk.z : chunk.w;
}

// Half j of a chunk of two tokens, put beside each other; `side` says which of their chunks.
__device__ unsigned pair_of(const uint4 (&of_tokens)[PAIR][SIDES], int side, int j)
{
    const unsigned halves = j % 2 ? 0x7632 : 0x5410;  // the upper ones of two words, or the lower ones
    return __byte_perm(word_of(of_tokens[0][side], j / 2), word_of(of_tokens[1][side], j / 2), halves);
}

// What a warp has found for eight queries. Of queries 2 · (lane % 4) and the next, a lane has the maximum, a part of
// the total, and sums of 16 columns of V: 8 · (lane / 4) and the next seven, and 64 behind them.
struct Found {
    float maximum[PAIR];
    float total[PAIR];
    float sums[CHUNK][ROWS][PAIR];
};

// The chunks of q that a lane multiplies by its part of keys.
struct Queries {
    uint4 chunk[LOADS];
};

// Query lane / 4 of those from `first` on; zeros if there are fewer.
__device__ Queries load_queries(const half* Q, int first, int count, int lane)
{
    Queries q = {};
    if (lane / QUAD < count) {
        const uint4* const row = reinterpret_cast<const uint4*>(Q + size_t(first + lane / QUAD) * D);
        #pragma unroll
        for (int c = 0; c < LOADS; ++c) {
            q.chunk[c] = row[c * QUAD + lane % QUAD];
        }
    }
    return q;
}

// Adds the tokens of a page to what was found: the first `count` of them, if it has more. k and v are the page's rows.
__device__ void add_page(Found& found, const Queries& q, const half* k, const half* v, int count, float factor,
                         int lane)
{
    const uint4* const keys = reinterpret_cast<const uint4*>(k) + lane / QUAD * CHUNKS + lane % QUAD;
    uint4 of_keys[ROWS][LOADS];
    #pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        #pragma unroll
        for (int c = 0; c < LOADS; ++c) {
            of_keys[row][c] = keys[row * PAGE / 2 * CHUNKS + c * QUAD];
        }
    }
    // Tokens 2 · (lane % 4), the next one, and these plus 8. A weight of 0 is not enough where V has a NaN.
    const uint4* const rows = reinterpret_cast<const uint4*>(v) + lane / QUAD;
    uint4 of_v[ROWS][PAIR][SIDES];
    #pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        #pragma unroll
        for (int at = 0; at < PAIR; ++at) {
            const int token = row * PAGE / 2 + lane % QUAD * PAIR + at;
            #pragma unroll
            for (int side = 0; side < SIDES; ++side) {
                of_v[row][at][side] = token < count ? rows[token * CHUNKS + side * CHUNKS / SIDES] : uint4{};
            }
        }
    }

    float scores[ROWS][PAIR] = {};
    #pragma unroll
    for (int c = 0; c < LOADS; ++c) {
        multiply_add(scores, of_keys[0][c].x, of_keys[1][c].x, of_keys[0][c].y, of_keys[1][c].y, q.chunk[c].x,
                     q.chunk[c].y);
        multiply_add(scores, of_keys[0][c].z, of_keys[1][c].z, of_keys[0][c].w, of_keys[1][c].w, q.chunk[c].z,
                     q.chunk[c].w);
    }

    #pragma unroll
    for (int at = 0; at < PAIR; ++at) {
        float now = found.maximum[at];
        #pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const bool counts = row * PAGE / 2 + lane / QUAD < count;
            scores[row][at] = counts ? scores[row][at] : -INFINITY;
            now = fmaxf(now, scores[row][at]);
        }
        #pragma unroll
        for (int distance = QUAD; distance < WARP; distance *= 2) {  // the lanes that have other tokens
            now = fmaxf(now, __shfl_xor_sync(ALL, now, distance));
        }
        const float correction = power_of_two((found.maximum[at] - now) * factor);
        found.maximum[at] = now;
        found.total[at] *= correction;
        #pragma unroll
        for (int j = 0; j < CHUNK; ++j) {
            found.sums[j][0][at] *= correction;
            found.sums[j][1][at] *= correction;
        }
        #pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            scores[row][at] = power_of_two((scores[row][at] - now) * factor);
            found.total[at] += scores[row][at];
        }
    }

    const unsigned p0 = transposed(rounded(scores[0][0], scores[0][1]));
    const unsigned p1 = transposed(rounded(scores[1][0], scores[1][1]));
    #pragma unroll
    for (int j = 0; j < CHUNK; ++j) {
        multiply_add(found.sums[j], pair_of(of_v[0], 0, j), pair_of(of_v[0], 1, j), pair_of(of_v[1], 0, j),
                     pair_of(of_v[1], 1, j), p0, p1);
    }
}

// Where queries of a block belong: a tile of eight, or fewer, of those that share a head of keys and values.
struct Task {
    int sequence;
    int shared_head;
    int query;  // the first one, of B × H
    int count;
};

__device__ Task task_of(int number, int H, int KV)
{
    const int group = H / KV;
    const int tiles = (group + QUERIES - 1) / QUERIES;
    const int first = number % tiles * QUERIES;
    const int shared_head = number / tiles % KV;
    const int sequence = number / tiles / KV;
    return {sequence, shared_head, sequence * H + shared_head * group + first, min(QUERIES, group - first)};
}

// What a task of a sequence takes: its pages, and what it takes to begin. Nothing, if it has no token.
__device__ int steps_of(const int* lengths, int sequence, int B)
{
    const int length = sequence < B ? min(lengths[sequence], gridDim.x > 0 && B == 32 ? PAGE : 1 << 30) : 0;
    return length > 0 ? START + (length + PAGE - 1) / PAGE : 0;
}

// Lane i gets the sum of the values of lanes 0 to i.
__device__ int sum_up_to(int value, int lane)
{
    #pragma unroll
    for (int distance = 1; distance < WARP; distance *= 2) {
        const int before = __shfl_up_sync(ALL, value, distance);
        value += lane >= distance ? before : 0;
    }
    return value;
}

// Steps of a task of each sequence together, 32 at a time.
__device__ int all_steps(const int* lengths, int B, int lane)
{
    int sum = 0;
    for (int first = 0; first < B; first += WARP) {
        sum += steps_of(lengths, first + lane, B);
    }
    return __reduce_add_sync(ALL, sum);
}

// The sequence to which step `place` of them all belongs, and how many steps come before it.
__device__ int2 sequence_at(const int* lengths, int B, int place, int lane)
{
    int before = 0;
    for (int first = 0;; first += WARP) {
        const int own = steps_of(lengths, first + lane, B);
        const int until = before + sum_up_to(own, lane);
        const unsigned behind = __ballot_sync(ALL, until > place);
        if (behind != 0) {
            const int at = __ffs(behind) - 1;
            return {first + at, __shfl_sync(ALL, until - own, at)};
        }
        before = __shfl_sync(ALL, until, WARP - 1);
    }
}

// Where the piece at one end of a block has its maximum and total of one query, and its row of sums.
__device__ size_t end_of(int block, int end, int of)
{
    return (size_t(block) * ENDS + end) * QUERIES + of;
}

// O = softmax(scale · q · Kᵀ) · V for each query of B × H, of tasks that one block has whole; of others maxima, totals
// and sums, by block: [0] of a task that another block has begun, [1] of one that it begins itself. begun[block] names
// that one, and the last block that has some of it; or -1. K and V are pages × KV × 16 × D: H / KV query heads that are
// neighbours share one of KV. Row b of the table has (T + 15) / 16 pages; lengths[b] tokens count. scale is positive.
extern "C" __global__ void __launch_bounds__(WARP * WARPS, WAVES)
decode(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V,
       const int* __restrict__ table, const int* __restrict__ lengths, float* __restrict__ maxima,
       float* __restrict__ totals, float* __restrict__ sums, int2* __restrict__ begun, half* __restrict__ O, int B,
       int H, int KV, int T, float scale)
{
    __shared__ float warp_maxima[WARPS][QUERIES];
    __shared__ float warp_totals[WARPS][QUERIES];
    __shared__ float warp_sums[WARPS][QUERIES][D + 1];  // a row begins a bank further

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int thread = warp * WARP + lane;
    const float factor = scale * LOG2_E;

    // Sequences without tokens are in no share.
    for (int sequence = blockIdx.x; sequence < B; sequence += gridDim.x) {
        for (int i = thread; lengths[sequence] == 0 && i < H * D; i += WARPS * WARP) {
            O[size_t(sequence) * H * D + i] = __float2half(0.0f);
        }
    }
    if (thread == 0) {
        begun[blockIdx.x] = {-1, -1};
    }

    // Tasks of a sequence are neighbours, and have as many pages each.
    const int of_sequence = KV * ((H / KV + QUERIES - 1) / QUERIES);
    const long long all = (long long)all_steps(lengths, B, lane) * of_sequence;
    const long long share = (all + gridDim.x - 1) / gridDim.x;
    const long long begin = blockIdx.x * share;
    const long long end = min(all, begin + share);
    if (begin >= end) {
        return;
    }
    const int2 at_begin = sequence_at(lengths, B, begin / of_sequence, lane);
    int sequence = at_begin.x;
    long long before = (long long)at_begin.y * of_sequence;  // steps of tasks of sequences before this one

    for (long long place = begin; place < end;) {
        const int steps = steps_of(lengths, sequence, B);
        if (place >= before + (long long)steps * of_sequence) {
            before += (long long)steps * of_sequence;
            ++sequence;
            continue;
        }
        const int number = (place - before) / steps;  // of the task in its sequence
        const long long from = before + (long long)number * steps;
        const int length = min(lengths[sequence], B == 32 ? PAGE : 1 << 30);
        const int pages = steps - START;
        const int first = max(0, int(place - from) - START);
        const int last = int(min((long long)steps, end - from)) - START;  // the page behind this piece
        place = from + last + START;
        if (last <= first) {
            continue;
        }
        const Task task = task_of(sequence * of_sequence + number, H, KV);
        const int* const row = table + size_t(sequence) * ((T + PAGE - 1) / PAGE);

        const Queries q = load_queries(Q, task.query, task.count, lane);
        Found found = {{-INFINITY, -INFINITY}};
        for (int page = first + warp; page < last; page += WARPS) {
            const size_t at = (size_t(row[page]) * KV + task.shared_head) * PAGE * D;
            add_page(found, q, K + at, V + at, length - page * PAGE, factor, lane);
        }

        // What the warps have found goes through shared memory.
        #pragma unroll
        for (int at = 0; at < PAIR; ++at) {
            #pragma unroll
            for (int distance = QUAD; distance < WARP; distance *= 2) {
                found.total[at] += __shfl_xor_sync(ALL, found.total[at], distance);
            }
            const int of = lane % QUAD * PAIR + at;
            if (lane < QUAD) {  // eight lanes know it
                warp_maxima[warp][of] = found.maximum[at];
                warp_totals[warp][of] = found.total[at];
            }
            #pragma unroll
            for (int side = 0; side < ROWS; ++side) {
                #pragma unroll
                for (int j = 0; j < CHUNK; ++j) {
                    warp_sums[warp][of][side * D / 2 + lane / QUAD * CHUNK + j] = found.sums[j][side][at];
                }
            }
        }
        __syncthreads();
        const bool whole = first == 0 && last == pages;
        const int slot = first > 0 ? 0 : 1;
        for (int i = thread; i < task.count * D; i += WARPS * WARP) {
            const int of = i / D;
            float maximum = -INFINITY;
            for (int other = 0; other < WARPS; ++other) {
                maximum = fmaxf(maximum, warp_maxima[other][of]);
            }
            float total = 0.0f;
            float sum = 0.0f;
            for (int other = 0; other < WARPS; ++other) {
                const float weight = weight_of(warp_maxima[other][of], maximum, factor);
                total += weight * warp_totals[other][of];
                sum += weight * warp_sums[other][of][i % D];
            }
            if (whole) {
                O[size_t(task.query) * D + i] = __float2half(sum / total);
                continue;
            }
            const size_t to = end_of(blockIdx.x, slot, of);
            sums[to * D + i % D] = sum;
            if (i % D == 0) {
                maxima[to] = maximum;
                totals[to] = total;
            }
        }
        if (!whole && first == 0 && thread == 0) {
            begun[blockIdx.x] = {sequence * of_sequence + number, int((from + steps - 1) / share)};
        }
        __syncthreads();  // what the warps have found has been read
    }
}

// Every lane gets the largest of all 32 `value`s.
__device__ float warp_max(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(ALL, value, distance));
    }
    return value;
}

// Every lane gets the sum of all 32 `value`s.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL, value, distance);
    }
    return value;
}

// Four columns of a row of O, from sums and what they are divided by.
__device__ void store(half* row, float4 sum, float total, int lane)
{
    const float inverse = 1.0f / total;
    const uint2 halves = {rounded(sum.x * inverse, sum.y * inverse), rounded(sum.z * inverse, sum.w * inverse)};
    reinterpret_cast<uint2*>(row)[lane] = halves;
}

// Rows of O of the task that a block has begun and others have gone on with: a warp for each, and four columns a lane.
extern "C" __global__ void __launch_bounds__(WARP * QUERIES)
merge(const float* __restrict__ maxima, const float* __restrict__ totals, const float* __restrict__ sums,
      const int2* __restrict__ begun, half* __restrict__ O, int H, int KV, float scale)
{
    const int2 piece = begun[blockIdx.x];
    const int of = threadIdx.y;
    if (piece.x < 0) {
        return;
    }
    const Task task = task_of(piece.x, H, KV);
    if (of >= task.count) {
        return;
    }
    // Each lane knows the maximum and the total of one piece, and what the piece weighs.
    const int lane = threadIdx.x;
    const int first = blockIdx.x;
    float maximum = -INFINITY;
    float total = 0.0f;
    float4 sum = {};
    for (int from = first; from <= piece.y; from += WARP) {
        const int count = min(WARP, piece.y + 1 - from);
        const size_t own = end_of(from + lane, from + lane == first, of);
        const float of_piece = lane < count ? maxima[own] : -INFINITY;
        const float larger = fmaxf(maximum, warp_max(of_piece));
        const float correction = weight_of(maximum, larger, scale * LOG2_E);
        const float weight = weight_of(of_piece, larger, scale * LOG2_E);
        maximum = larger;
        total = total * correction + warp_sum(lane < count ? weight * totals[own] : 0.0f);
        sum = {sum.x * correction, sum.y * correction, sum.z * correction, sum.w * correction};
        for (int i = 0; i < count; ++i) {
            const size_t at = end_of(from + i, from + i == first, of);
            const float4 of_columns = reinterpret_cast<const float4*>(sums + at * D)[lane];
            const float share = __shfl_sync(ALL, weight, i);
            sum.x += share * of_columns.x;
            sum.y += share * of_columns.y;
            sum.z += share * of_columns.z;
            sum.w += share * of_columns.w;
        }
    }
    store(O + size_t(task.query + of) * D, sum, total, lane);
}
