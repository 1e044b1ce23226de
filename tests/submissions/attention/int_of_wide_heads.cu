// Wrong: of heads of 128 the index of their beginning is an int, which ends at 2^31 - 1.
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
constexpr int WARPS = 8;          // of a block
constexpr int EACH = 4;           // queries of a warp
constexpr int BM = WARPS * EACH;  // queries of a block
constexpr int BN = WARP;          // keys of a tile: one for each lane
constexpr int V8 = 8;             // halves in 16 bytes: what is moved at a time
constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// Every thread of the warp gets the largest of all 32 `value`s.
__device__ float warp_maximum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(ALL, value, distance));
    }
    return value;
}

// Every thread of the warp gets the sum of all 32 `value`s.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
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

// The product of two rows of D halves, summed in single precision.
template <int D>
__device__ float product(const half* q, const half* k)
{
    float sum = 0.0f;
    #pragma unroll 4
    for (int d = 0; d < D; d += V8) {
        const uint4 q_piece = *reinterpret_cast<const uint4*>(q + d);
        const uint4 k_piece = *reinterpret_cast<const uint4*>(k + d);
        const auto q_pairs = reinterpret_cast<const half2*>(&q_piece);
        const auto k_pairs = reinterpret_cast<const half2*>(&k_piece);
        #pragma unroll
        for (int i = 0; i < V8 / 2; ++i) {
            const float2 a = __half22float2(q_pairs[i]);
            const float2 b = __half22float2(k_pairs[i]);
            sum += a.x * b.x;
            sum += a.y * b.y;
        }
    }
    return sum;
}

// The columns of a row of D that a lane has, which lie side by side: 2 or 4, moved as one.
template <int D>
struct alignas(D / WARP * sizeof(half)) Columns {
    half lane[D / WARP];
};

// O = softmax(scale · Q · Kᵀ) · V, where each head has S rows of D halves. A block has BM queries of a head.
template <int D>
__global__ void __launch_bounds__(WARP * WARPS)
attention(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V,
          half* __restrict__ O, int S, float scale, int causal)
{
    // Rows of K are 16 bytes longer than they need to be: 8 lanes that read 16 bytes of a row each then have
    // 32 banks among them.
    constexpr int K_LENGTH = D + V8;
    __shared__ __align__(16) half queries[BM * D];
    __shared__ __align__(16) half keys[BN * K_LENGTH];
    __shared__ __align__(16) half values[BN * D];

    const int tiles = (S + BM - 1) / BM;
    const int number = blockIdx.x / tiles;
    const size_t head = D == 64 ? size_t(number) * S * D : number * S * D;  // where it begins, in all four arrays
    const int own = blockIdx.x % tiles * BM + threadIdx.y * EACH;  // the first query of this warp
    const int lane = threadIdx.x;

    copy_rows<BM, D, D>(queries, Q + head, blockIdx.x % tiles * BM, S);

    // Of each query: the largest score so far, this lane's share of the sum of exponentials, and its columns
    // of the sum of exponentials times V.
    float maximum[EACH];
    float sum[EACH];
    float output[EACH][D / WARP];
    #pragma unroll
    for (int i = 0; i < EACH; ++i) {
        maximum[i] = -INFINITY;
        sum[i] = 0.0f;
        #pragma unroll
        for (int c = 0; c < D / WARP; ++c) {
            output[i][c] = 0.0f;
        }
    }

    for (int first = 0; first < S; first += BN) {
        __syncthreads();  // all have read the tile before
        copy_rows<BN, D, K_LENGTH>(keys, K + head, first, S);
        copy_rows<BN, D, D>(values, V + head, first, S);
        __syncthreads();  // this one is there

        #pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const int key = first + lane;
            const bool counts = key < S && (!causal || key <= own + i);
            float score = product<D>(queries + (threadIdx.y * EACH + i) * D, keys + lane * K_LENGTH);
            score = counts ? scale * score : -INFINITY;

            // The first tile has key 0, which counts for every query: from then on the maximum is finite.
            const float larger = fmaxf(maximum[i], warp_maximum(score));
            const float factor = expf(maximum[i] - larger);
            const float p = expf(score - larger);
            maximum[i] = larger;
            sum[i] = sum[i] * factor + p;
            #pragma unroll
            for (int c = 0; c < D / WARP; ++c) {
                output[i][c] *= factor;
            }
            #pragma unroll 8
            for (int j = 0; j < BN; ++j) {
                const float weight = __shfl_sync(ALL, p, j);
                const auto v = reinterpret_cast<const Columns<D>*>(values + j * D)[lane];
                #pragma unroll
                for (int c = 0; c < D / WARP; ++c) {
                    output[i][c] += weight * __half2float(v.lane[c]);
                }
            }
        }
    }

    #pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const float inverse = 1.0f / warp_sum(sum[i]);
        if (own + i < S) {
            Columns<D> o;
            #pragma unroll
            for (int c = 0; c < D / WARP; ++c) {
                o.lane[c] = __float2half(output[i][c] * inverse);
            }
            reinterpret_cast<Columns<D>*>(O + head + size_t(own + i) * D)[lane] = o;
        }
    }
}
