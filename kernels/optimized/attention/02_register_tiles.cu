// A thread computes a square of 4 × 4 scores, of which each number that it reads from shared memory serves
// four. Rung 01 has a number of K and one of Q for each multiply-add. A warp has 16 queries now: its
// threads are four rows of eight, and threads of a row have the same four queries.
//
// Outputs are tiles of registers as well: a thread has four queries and an eighth of the columns, and
// each row of V that it reads serves four queries. Terms of the softmax pass from thread to thread within a
// row, by way of shared memory.
//
// What it should buy: a quarter of the wavefronts of shared memory, P / 93 of them for the P products of
// scores where rung 01 has P / 26. A block has 64 queries, so that half as much comes from global memory.
// At the main size an H200 takes 36 ms in place of 73.
//
// What it costs: 168 registers a thread. A multiprocessor holds a fifth of the threads that it could.
//
// /// launch
// [[launch]]
// kernel = "attention<64>"
// when = "D == 64"
// args = ["Q", "K", "V", "O", "S", "scale", "causal"]
// grid = ["HEADS * cdiv(S, BM)"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "attention<128>"
// when = "D == 128"
// args = ["Q", "K", "V", "O", "S", "scale", "causal"]
// grid = ["HEADS * cdiv(S, BM)"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 4;                 // of a block
constexpr int SIDE = 4;                  // of the square of scores that a thread computes
constexpr int ACROSS = 8;                // threads of a row: they have the same queries
constexpr int DOWN = WARP / ACROSS;      // rows of threads of a warp
constexpr int EACH = DOWN * SIDE;        // queries of a warp
constexpr int BM = WARPS * EACH;         // queries of a block
constexpr int BN = ACROSS * SIDE;        // keys of a tile
constexpr int V8 = 8;                    // halves in 16 bytes: what is moved at a time
constexpr unsigned ALL = 0xffffffff;     // the mask of a shuffle that all 32 threads take part in

// The threads of a row get the largest of their eight `value`s.
__device__ float row_maximum(float value)
{
    #pragma unroll
    for (int distance = ACROSS / 2; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(ALL, value, distance));
    }
    return value;
}

// The threads of a row get the sum of their eight `value`s.
__device__ float row_sum(float value)
{
    #pragma unroll
    for (int distance = ACROSS / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL, value, distance);
    }
    return value;
}

// Copies ROWS rows of D halves, from row `first` on, to shared memory, where they lie LENGTH halves apart.
// Behind the last of S rows come zeros.
template <int ROWS, int D, int LENGTH>
__device__ void copy_rows(half* target, const half* source, int first, int S)
{
    constexpr int PIECES = D / V8;  // of a row
    const int thread = threadIdx.y * WARP + threadIdx.x;
    #pragma unroll
    for (int piece = thread; piece < ROWS * PIECES; piece += WARP * WARPS) {
        const int row = piece / PIECES;
        const int column = piece % PIECES * V8;
        uint4 value = make_uint4(0, 0, 0, 0);
        if (first + row < S) {
            value = *reinterpret_cast<const uint4*>(source + size_t(first + row) * D + column);
        }
        *reinterpret_cast<uint4*>(target + row * LENGTH + column) = value;
    }
}

// Eight halves that lie side by side, as floats.
__device__ void read8(float (&values)[V8], const half* from)
{
    const uint4 piece = *reinterpret_cast<const uint4*>(from);
    const auto pairs = reinterpret_cast<const half2*>(&piece);
    #pragma unroll
    for (int i = 0; i < V8 / 2; ++i) {
        const float2 pair = __half22float2(pairs[i]);
        values[2 * i] = pair.x;
        values[2 * i + 1] = pair.y;
    }
}

// Two floats, rounded to halves, in one word.
__device__ unsigned two_halves(float low, float high)
{
    const half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned*>(&pair);
}

// Eight floats, multiplied by `factor`, as eight halves.
__device__ uint4 as_halves(const float (&values)[V8], float factor)
{
    return make_uint4(two_halves(values[0] * factor, values[1] * factor),
                      two_halves(values[2] * factor, values[3] * factor),
                      two_halves(values[4] * factor, values[5] * factor),
                      two_halves(values[6] * factor, values[7] * factor));
}

// O = softmax(scale · Q · Kᵀ) · V, where each head has S rows of D halves. A block has BM queries of a head.
template <int D>
__global__ void __launch_bounds__(WARP * WARPS)
attention(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V,
          half* __restrict__ O, int S, float scale, int causal)
{
    // Rows of Q and K are 16 bytes longer than they need to be: threads that read 16 bytes of neighbouring
    // rows then find them in different banks.
    constexpr int LENGTH = D + V8;
    constexpr int PIECES = D / (ACROSS * V8);  // of a row of O, each of 8 columns for each thread of a row
    __shared__ __align__(16) half queries[BM * LENGTH];
    __shared__ __align__(16) half keys[BN * LENGTH];
    __shared__ __align__(16) half values[BN * D];

    // exp(score - m) of a key and the SIDE queries of a row; one place more, so that the four rows of threads
    // of a warp read from different banks.
    __shared__ float4 terms[WARPS][DOWN][BN + 1];

    const int tiles = (S + BM - 1) / BM;
    const size_t head = size_t(blockIdx.x / tiles) * S * D;  // where the head begins, in all four arrays
    const int block_query = blockIdx.x % tiles * BM;         // the first query of this block
    const int down = threadIdx.x / ACROSS;
    const int across = threadIdx.x % ACROSS;

    // Query i of this thread is `own` + DOWN · i: neighbouring rows of threads have neighbouring queries. Key
    // j of a tile is `across` + ACROSS · j.
    const int own = threadIdx.y * EACH + down;
    copy_rows<BM, D, LENGTH>(queries, Q + head, block_query, S);

    // Of each query: the largest score so far, this thread's share of the sum of exponentials, and its columns
    // of the sum of exponentials times V.
    float maximum[SIDE];
    float sum[SIDE];
    float output[SIDE][PIECES][V8];
    #pragma unroll
    for (int i = 0; i < SIDE; ++i) {
        maximum[i] = -INFINITY;
        sum[i] = 0.0f;
        #pragma unroll
        for (int c = 0; c < PIECES * V8; ++c) {
            output[i][c / V8][c % V8] = 0.0f;
        }
    }

    for (int first = 0; first < S; first += BN) {
        __syncthreads();  // all have read the tile before
        copy_rows<BN, D, LENGTH>(keys, K + head, first, S);
        copy_rows<BN, D, D>(values, V + head, first, S);
        __syncthreads();  // this one is there

        float score[SIDE][SIDE] = {};
        #pragma unroll 2
        for (int d = 0; d < D; d += V8) {
            float q[SIDE][V8];
            #pragma unroll
            for (int i = 0; i < SIDE; ++i) {
                read8(q[i], queries + (own + DOWN * i) * LENGTH + d);
            }
            #pragma unroll
            for (int j = 0; j < SIDE; ++j) {
                float k[V8];
                read8(k, keys + (across + ACROSS * j) * LENGTH + d);
                #pragma unroll
                for (int i = 0; i < SIDE; ++i) {
                    #pragma unroll
                    for (int n = 0; n < V8; ++n) {
                        score[i][j] += q[i][n] * k[n];
                    }
                }
            }
        }

        float p[SIDE][SIDE];  // by key and query: those of a key are stored as one
        #pragma unroll
        for (int i = 0; i < SIDE; ++i) {
            const int query = block_query + own + DOWN * i;
            float larger = maximum[i];
            #pragma unroll
            for (int j = 0; j < SIDE; ++j) {
                const int key = first + across + ACROSS * j;
                const bool counts = key < S && (!causal || key <= query);
                score[i][j] = counts ? scale * score[i][j] : -INFINITY;
                larger = fmaxf(larger, score[i][j]);
            }
            // The first tile has key 0, which counts for every query: from then on the maximum is finite.
            larger = row_maximum(larger);
            const float factor = expf(maximum[i] - larger);
            maximum[i] = larger;
            sum[i] *= factor;
            #pragma unroll
            for (int j = 0; j < SIDE; ++j) {
                p[j][i] = expf(score[i][j] - larger);
                sum[i] += p[j][i];
            }
            #pragma unroll
            for (int c = 0; c < PIECES * V8; ++c) {
                output[i][c / V8][c % V8] *= factor;
            }
        }
        #pragma unroll
        for (int j = 0; j < SIDE; ++j) {
            terms[threadIdx.y][down][across + ACROSS * j] = make_float4(p[j][0], p[j][1], p[j][2], p[j][3]);
        }
        __syncwarp();  // the terms of all threads of the row are there

        #pragma unroll 2
        for (int key = 0; key < BN; ++key) {
            const float4 of_key = terms[threadIdx.y][down][key];
            const float weight[SIDE] = {of_key.x, of_key.y, of_key.z, of_key.w};
            #pragma unroll
            for (int piece = 0; piece < PIECES; ++piece) {
                float v[V8];
                read8(v, values + key * D + (piece * ACROSS + across) * V8);
                #pragma unroll
                for (int i = 0; i < SIDE; ++i) {
                    #pragma unroll
                    for (int n = 0; n < V8; ++n) {
                        output[i][piece][n] += weight[i] * v[n];
                    }
                }
            }
        }
    }

    #pragma unroll
    for (int i = 0; i < SIDE; ++i) {
        const float inverse = 1.0f / row_sum(sum[i]);
        const int query = block_query + own + DOWN * i;
        const auto to = reinterpret_cast<uint4*>(O + head + size_t(query) * D) + across;
        #pragma unroll
        for (int piece = 0; piece < PIECES; ++piece) {
            const uint4 o = as_halves(output[i][piece], inverse);
            if (query < S) {
                to[piece * ACROSS] = o;
            }
        }
    }
}
