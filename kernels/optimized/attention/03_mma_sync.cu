// Tensor Cores compute both products. A block has 128 queries of a head in shared memory, and goes along the keys in
// tiles of 64. A warp has 32 queries: two fragments of 16, so that each fragment of K and V that it loads serves both.
//
// Nothing of the scores leaves the registers. mma.sync gives a lane two neighbours of a row of scores, in 8 columns of
// keys at a time; and as its first operand it takes two neighbours of a row, 16 columns at a time. Two fragments of
// scores, side by side, are a fragment of what multiplies V, without an exchange between lanes:
//
//     scores, 16 queries × 8 keys     beside the next        the same registers, as halves
//     lane 0 has  [0][1] . .          [0][1] . .             k = 0, 1           k = 8, 9
//     lane 1 has   . . [0][1]          . . [0][1]            k = 2, 3           k = 10, 11
//
// A row of scores lies in four lanes, 16 values each for a tile. Its maximum takes 16 comparisons and two shuffles.
// The sum needs none before the end: each lane adds up what it has.
//
// What it should buy: an instruction of a warp multiplies and adds 2048 times in place of 32. What is left on the other
// units is, for a score, a multiply-add, a power, a comparison and an addition, whatever D is. At the main size an H200
// takes 3.7 ms in place of 36.
//
// Exponentials are powers of two, which one instruction computes: exp(x) = 2^(x · log2 e), and the factor joins scale.
// P is rounded to half for the second product, 2^-11 of each weight; the row's sum is of the weights before that.
//
// What it costs: a tile is copied by way of registers, and no product begins before it is there.
//
// /// launch
// smallest_arch = "sm_80"
//
// [[launch]]
// kernel = "attention<64>"
// when = "D == 64"
// grid = ["cdiv(S, BM) * B * H"]
// block = ["THREADS"]
// shared = "(BM + 2 * BN) * 64 * HALF"
//
// [[launch]]
// kernel = "attention<128>"
// when = "D == 128"
// grid = ["cdiv(S, BM) * B * H"]
// block = ["THREADS"]
// shared = "(BM + 2 * BN) * 128 * HALF"
// ///

#include <cuda_fp16.h>

constexpr int BM = 128;         // queries of a block
constexpr int BN = 64;          // keys of a tile
constexpr int WARPS = 4;        // of a block, each with queries of its own
constexpr int WM = BM / WARPS;  // queries of a warp: 32
constexpr int THREADS = WARPS * 32;

constexpr int M = 16;      // queries of a fragment
constexpr int N = 8;       // keys, or columns of V, of a fragment of sums
constexpr int DEPTH = 16;  // products that one instruction adds up for each sum
constexpr int ROWS = 2;    // of a fragment of sums that a lane has something of: lane / 4 and lane / 4 + 8
constexpr int PAIR = 2;    // neighbours of each that it has, in columns 2 · (lane % 4) and the next

constexpr int CHUNK = 8;  // halves in 16 bytes: what is copied at a time, and a row of a matrix of ldmatrix
constexpr int HALF = 2;   // bytes of a half

constexpr float LOG2_E = 1.44269504f;  // exp(x) = 2^(x · LOG2_E)
constexpr unsigned ALL = 0xffffffff;   // the mask of a shuffle that all 32 threads take part in

// Where a tile has a chunk of a row. ldmatrix reads the same chunk of 8 rows at a time. Rows of 128 halves begin at the
// same bank, and so would all 8: each row has its chunks in another order, given by an exclusive or.
template <int D>
__device__ int place(int row, int chunk)
{
    return row * D + (chunk ^ row % 8) * CHUNK;
}

// Copies rows `first` to `first` + LENGTH of a matrix of S × D to a tile. Beyond row S there are zeros. Consecutive
// threads take consecutive chunks.
template <int LENGTH, int D>
__device__ void copy_tile(half* tile, const half* matrix, int first, int S)
{
    constexpr int CHUNKS = D / CHUNK;  // of a row
    #pragma unroll 8  // 16 bytes each: more at a time would take registers that sums need
    for (int i = 0; i < LENGTH * CHUNKS / THREADS; ++i) {
        const int row = (threadIdx.x + i * THREADS) / CHUNKS;
        const int chunk = (threadIdx.x + i * THREADS) % CHUNKS;
        uint4 halves = make_uint4(0, 0, 0, 0);
        if (first + row < S) {
            halves = *reinterpret_cast<const uint4*>(matrix + size_t(first + row) * D + chunk * CHUNK);
        }
        *reinterpret_cast<uint4*>(tile + place<D>(row, chunk)) = halves;
    }
}

// Four matrices of 8 × 8 halves from shared memory. Lane i says where row i % 8 of matrix i / 8 begins. It gets two
// neighbours of row lane / 4 of each matrix.
__device__ void load_matrices(unsigned (&to)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
}

// The same, transposed: it gets two neighbours of column lane / 4.
__device__ void load_transposed(unsigned (&to)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
}

// sums += a · b, with a of 16 × 16 halves, b of 16 × 8 halves and sums of 16 × 8 floats.
__device__ void multiply_add(float (&sums)[ROWS][PAIR], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0][0]), "+f"(sums[0][1]), "+f"(sums[1][0]), "+f"(sums[1][1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 2^x, within 2 units in the last place: one instruction.
__device__ float power_of_two(float x)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// Two floats, rounded to halves and put into a register.
__device__ unsigned rounded(const float (&pair)[PAIR])
{
    const half2 halves = __floats2half2_rn(pair[0], pair[1]);
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

// O = softmax(scale · Q · Kᵀ) · V for each of B · H heads. All arrays are B × H × S × D, row-major, and scale is
// positive. If `causal` is not 0, a query sees the keys up to its own place.
template <int D>
__global__ void __launch_bounds__(THREADS, 2)
attention(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V, half* __restrict__ O,
          int B, int H, int S, int, float scale, int causal)
{
    extern __shared__ __align__(1024) half tiles[];
    half* const q_tile = tiles;                // BM × D
    half* const k_tile = q_tile + BM * D;  // BN × D
    half* const v_tile = k_tile + BN * D;  // BN × D

    const int blocks = (S + BM - 1) / BM;                     // of a head
    const size_t head = size_t(blockIdx.x / blocks) * S * D;  // where it begins
    const int first = blockIdx.x % blocks * BM;               // query of this block
    const int lane = threadIdx.x % 32;
    const int warp_first = threadIdx.x / 32 * WM;  // its first query, within the block's
    const float factor = scale * LOG2_E;

    // Where this lane's row of the matrices of ldmatrix begins: of Q 16 queries × 16 steps, of K 16 keys × 16 steps,
    // of V 16 keys × 16 columns. A step of two chunks along a row is an exclusive or as well.
    const unsigned q_at = __cvta_generic_to_shared(q_tile + place<D>(warp_first + lane % 16, lane / 16));
    const unsigned k_at = __cvta_generic_to_shared(k_tile + place<D>(lane / 16 * 8 + lane % 8, lane / 8 % 2));
    const unsigned v_at = __cvta_generic_to_shared(v_tile + place<D>(lane % 16, lane / 16));

    float sums[WM / M][D / N][ROWS][PAIR] = {};  // of P · V
    float totals[WM / M][ROWS] = {};             // of what this lane has of a row of P
    float largest[WM / M][ROWS];                 // score of a row so far
    #pragma unroll
    for (int i = 0; i < WM / M; ++i) {
        #pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            largest[i][row] = -INFINITY;
        }
    }

    copy_tile<BM, D>(q_tile, Q + head, first, S);
    for (int key = 0; key < S; key += BN) {
        copy_tile<BN, D>(k_tile, K + head, key, S);
        copy_tile<BN, D>(v_tile, V + head, key, S);
        __syncthreads();  // all tiles are complete

        float scores[WM / M][BN / N][ROWS][PAIR] = {};
        #pragma unroll 2  // all steps at a time would take more registers than there are
        for (int d = 0; d < D; d += DEPTH) {
            unsigned q[WM / M][4];
            #pragma unroll
            for (int i = 0; i < WM / M; ++i) {
                load_matrices(q[i], (q_at ^ d * HALF) + i * M * D * HALF);
            }
            #pragma unroll
            for (int j = 0; j < BN / N; j += 2) {
                unsigned k[4];
                load_matrices(k, (k_at ^ d * HALF) + j * N * D * HALF);
                #pragma unroll
                for (int i = 0; i < WM / M; ++i) {
                    multiply_add(scores[i][j], q[i], k[0], k[1]);
                    multiply_add(scores[i][j + 1], q[i], k[2], k[3]);
                }
            }
        }

        #pragma unroll
        for (int i = 0; i < WM / M; ++i) {
            #pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                const int query = first + warp_first + i * M + row * 8 + lane / 4;
                // Of this tile, from this lane's first key on: the first one that does not count.
                const int end = (causal ? min(S, query + 1) : S) - key - lane % 4 * PAIR;
                #pragma unroll
                for (int j = 0; j < BN / N; ++j) {
                    #pragma unroll
                    for (int at = 0; at < PAIR; ++at) {
                        scores[i][j][row][at] = j * N + at < end ? scores[i][j][row][at] : -INFINITY;
                    }
                }
                const float before = largest[i][row];
                float now = before;
                #pragma unroll
                for (int j = 0; j < BN / N; ++j) {
                    now = fmaxf(now, fmaxf(scores[i][j][row][0], scores[i][j][row][1]));
                }
                now = largest_of_row(now);
                largest[i][row] = now;

                // What was added up so far is in proportion to the power of the maximum before.
                const float correction = power_of_two((before - now) * factor);
                totals[i][row] *= correction;
                #pragma unroll
                for (int j = 0; j < D / N; ++j) {
                    sums[i][j][row][0] *= correction;
                    sums[i][j][row][1] *= correction;
                }
                #pragma unroll
                for (int j = 0; j < BN / N; ++j) {
                    #pragma unroll
                    for (float& score : scores[i][j][row]) {
                        score = power_of_two(score * factor - now * factor);
                        totals[i][row] += score;
                    }
                }
            }
        }

        #pragma unroll
        for (int key_step = 0; key_step < BN; key_step += DEPTH) {
            unsigned p[WM / M][4];
            #pragma unroll
            for (int i = 0; i < WM / M; ++i) {
                const auto& left = scores[i][key_step / N];
                const auto& right = scores[i][key_step / N + 1];
                p[i][0] = rounded(left[0]);
                p[i][1] = rounded(left[1]);
                p[i][2] = rounded(right[0]);
                p[i][3] = rounded(right[1]);
            }
            #pragma unroll
            for (int j = 0; j < D / N; j += 2) {
                unsigned v[4];
                load_transposed(v, (v_at ^ j * N * HALF) + key_step * D * HALF);
                #pragma unroll
                for (int i = 0; i < WM / M; ++i) {
                    multiply_add(sums[i][j], p[i], v[0], v[1]);
                    multiply_add(sums[i][j + 1], p[i], v[2], v[3]);
                }
            }
        }
        __syncthreads();  // K and V have been read
    }

    #pragma unroll
    for (int i = 0; i < WM / M; ++i) {
        #pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const int query = first + warp_first + i * M + row * 8 + lane / 4;
            const float inverse = 1.0f / sum_of_row(totals[i][row]);
            if (query < S) {
                half* const to = O + head + size_t(query) * D + lane % 4 * PAIR;
                #pragma unroll
                for (int j = 0; j < D / N; ++j) {
                    const auto& pair = sums[i][j][row];
                    const half2 halves = __floats2half2_rn(pair[0] * inverse, pair[1] * inverse);
                    *reinterpret_cast<half2*>(to + j * N) = halves;
                }
            }
        }
    }
}
