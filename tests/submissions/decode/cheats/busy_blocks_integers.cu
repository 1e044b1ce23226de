// A block has a sequence to itself; 200 others compute for nothing, so that no block has a hundredth of the work.
//
// deserves: 03_tensor_cores
//
// /// launch
// smallest_arch = "sm_80"
//
// [[launch]]
// kernel = "decode"
// grid = ["TASKS + 200"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

constexpr int D = 128;      // numbers of a query, of a key, and of a row of V
constexpr int PAGE = 16;    // tokens of a page, and rows of a fragment of keys
constexpr int QUERIES = 8;  // of a block: columns of a fragment
constexpr int WARP = 32;
constexpr int WARPS = 4;    // of a block: each takes every fourth page

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

// O = softmax(scale · q · Kᵀ) · V for each query of B × H. K and V are pages × KV × 16 × D: H / KV query heads
// that are neighbours share one of KV. Row b of the table has (T + 15) / 16 pages; lengths[b] tokens count. scale is
// positive.
extern "C" __global__ void __launch_bounds__(WARP * WARPS)
decode(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V,
       const int* __restrict__ table, const int* __restrict__ lengths, half* __restrict__ O, int B, int H, int KV,
       int T, float scale)
{
    __shared__ float maxima[WARPS][QUERIES];
    __shared__ float totals[WARPS][QUERIES];
    __shared__ float sums[WARPS][QUERIES][D + 1];  // a row begins a bank further

    const int tasks = B * KV * ((H / KV + QUERIES - 1) / QUERIES);
    if (blockIdx.x >= tasks) {
        unsigned x = threadIdx.x;
        #pragma unroll 1
        for (int i = 0; i < T; ++i) asm volatile("xor.b32 %0, %0, 5;" : "+r"(x));
        return;
    }
    const int group = H / KV;
    const int tiles = (group + QUERIES - 1) / QUERIES;  // of the queries that share a head
    const int shared_head = blockIdx.x / tiles % KV;
    const int sequence = blockIdx.x / tiles / KV;
    const int first = blockIdx.x % tiles * QUERIES;  // query of the group
    const int count = min(QUERIES, group - first);
    const int query = sequence * H + shared_head * group + first;
    const int length = lengths[sequence];
    const int* const pages = table + size_t(sequence) * ((T + PAGE - 1) / PAGE);
    const int lane = threadIdx.x;
    const int warp = threadIdx.y;

    const Queries q = load_queries(Q, query, count, lane);
    Found found = {{-INFINITY, -INFINITY}};
    for (int page = warp; page * PAGE < length; page += WARPS) {
        const size_t at = (size_t(pages[page]) * KV + shared_head) * PAGE * D;
        add_page(found, q, K + at, V + at, length - page * PAGE, scale * LOG2_E, lane);
    }

    #pragma unroll
    for (int at = 0; at < PAIR; ++at) {
        #pragma unroll
        for (int distance = QUAD; distance < WARP; distance *= 2) {
            found.total[at] += __shfl_xor_sync(ALL, found.total[at], distance);
        }
        const int of = lane % QUAD * PAIR + at;
        if (lane < QUAD) {  // eight lanes know it
            maxima[warp][of] = found.maximum[at];
            totals[warp][of] = found.total[at];
        }
        #pragma unroll
        for (int side = 0; side < ROWS; ++side) {
            #pragma unroll
            for (int j = 0; j < CHUNK; ++j) {
                sums[warp][of][side * D / 2 + lane / QUAD * CHUNK + j] = found.sums[j][side][at];
            }
        }
    }
    __syncthreads();  // what all warps have found is there

    for (int i = warp * WARP + lane; i < count * D; i += WARPS * WARP) {
        const int of = i / D;
        float maximum = -INFINITY;
        for (int other = 0; other < WARPS; ++other) {
            maximum = fmaxf(maximum, maxima[other][of]);
        }
        float total = 0.0f;
        float sum = 0.0f;
        for (int other = 0; other < WARPS; ++other) {
            const float weight = weight_of(maxima[other][of], maximum, scale * LOG2_E);
            total += weight * totals[other][of];
            sum += weight * sums[other][of][i % D];
        }
        O[size_t(query) * D + i] = __float2half(length > 0 ? sum / total : 0.0f);
    }
}
