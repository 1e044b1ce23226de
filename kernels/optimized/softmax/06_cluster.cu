// The blocks of a cluster share a row. They start together, on multiprocessors near one another, and each
// can write to the shared memory of the others. So each writes its maximum and its sum to all of them, and
// behind one barrier of the cluster every block has the pairs of its row: no cooperative launch, no scratch
// array, and nobody looks again and again.
//
// Blocks are small and have one piece each. 128 threads keep 64 elements each, five such blocks fit into
// a multiprocessor, and when one ends the next has its place. A cluster may have eight blocks, so rows of up
// to 65,536 elements go this way. Longer ones are still split over the blocks of a cooperative launch.
//
// What it should buy: nothing at 16384². At 32,768 × 65,536 it should come within a tenth of a copy, for 160
// KiB of elements a multiprocessor are on their way or worked on, where it was 128. Few rows have eight
// blocks each, and nothing is zeroed before.
//
// /// launch
// smallest_arch = "sm_90"
// side_step = true
//
// [[scratch]]
// name = "pairs"
// dtype = "uint64"
// shape = ["M", "cdiv(N, LONG)"]
//
// [[launch]]
// kernel = "warp_rows<4, 1>"
// when = "N % 4 == 0 and N <= 128"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "warp_rows<4, 8>"
// when = "N % 4 == 0 and N > 128 and N <= SHORT"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "block_rows<4>"
// when = "N % 4 == 0 and N > SHORT and N <= LONG and M > SMS"
// grid = ["M"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "cluster_rows<4>"
// when = "N % 4 == 0 and N > SHORT and (N > LONG or M <= SMS) and N <= MOST * PIECE"
// grid = ["M * min(MOST, max(cdiv(N, PIECE), cdiv(SMALL_PER_SM * SMS, M)))"]
// block = ["WARP", "SMALL_WARPS"]
// cluster = ["min(MOST, max(cdiv(N, PIECE), cdiv(SMALL_PER_SM * SMS, M)))"]
//
// [[launch]]
// kernel = "split_rows<4>"
// when = "N % 4 == 0 and N > MOST * PIECE and N <= LONG * BLOCKS_PER_SM * SMS"
// args = ["in", "out", "pairs", "M", "N"]
// grid = ["cdiv(N, LONG)", "min(M, BLOCKS_PER_SM * SMS // cdiv(N, LONG))"]
// block = ["WARP", "WARPS"]
// cooperative = true
// zero = ["pairs"]
//
// [[launch]]
// kernel = "long_rows<4>"
// when = "N % 4 == 0 and N > LONG * BLOCKS_PER_SM * SMS"
// grid = ["M"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "warp_rows<1, 1>"
// when = "N % 4 != 0 and N <= 32"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "warp_rows<1, 32>"
// when = "N % 4 != 0 and N > 32 and N <= SHORT"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "block_rows<1>"
// when = "N % 4 != 0 and N > SHORT and N <= LONG and M > SMS"
// grid = ["M"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "cluster_rows<1>"
// when = "N % 4 != 0 and N > SHORT and (N > LONG or M <= SMS) and N <= MOST * PIECE"
// grid = ["M * min(MOST, max(cdiv(N, PIECE), cdiv(SMALL_PER_SM * SMS, M)))"]
// block = ["WARP", "SMALL_WARPS"]
// cluster = ["min(MOST, max(cdiv(N, PIECE), cdiv(SMALL_PER_SM * SMS, M)))"]
//
// [[launch]]
// kernel = "split_rows<1>"
// when = "N % 4 != 0 and N > MOST * PIECE and N <= LONG * BLOCKS_PER_SM * SMS"
// args = ["in", "out", "pairs", "M", "N"]
// grid = ["cdiv(N, LONG)", "min(M, BLOCKS_PER_SM * SMS // cdiv(N, LONG))"]
// block = ["WARP", "WARPS"]
// cooperative = true
// zero = ["pairs"]
//
// [[launch]]
// kernel = "long_rows<1>"
// when = "N % 4 != 0 and N > LONG * BLOCKS_PER_SM * SMS"
// grid = ["M"]
// block = ["WARP", "WARPS"]
// ///

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int WARP = 32;
constexpr int ROWS = 4;                      // of a block whose warps take a row each: small, so that the
                                             // next one soon has its place
constexpr int WARPS = 16;                    // of a block that takes a row, or a piece of one
constexpr int FLOATS = 32;                   // of a row that a thread keeps
constexpr int SHORT = FLOATS * WARP;         // the longest row that a warp takes: 1,024
constexpr int LONG = FLOATS * WARP * WARPS;  // the longest row, or piece, that a block keeps: 16,384
constexpr int BLOCKS_PER_SM = 2;             // so that one computes while the other loads

constexpr int MOST = 8;                      // blocks of a cluster that every GPU with clusters takes
constexpr int SMALL_WARPS = 4;               // of a block of a cluster
constexpr int SMALL_PER_SM = 5;              // of these blocks: more threads would not find 96 registers each
constexpr int MANY = 64;                     // floats of a row that each of their threads keeps
constexpr int PIECE = MANY * WARP * SMALL_WARPS;  // the longest piece that such a block keeps: 8,192

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// What the largest of no elements is taken to be: -FLT_MAX. It is not -∞, which masked elements are:
// -∞ - (-∞) would be NaN.
constexpr float LOWEST = -3.402823466e38f;

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

// The same of a block of WARPS warps, with one barrier each. `values` has room for WARPS floats.
template <int WARPS>
__device__ float block_maximum(float value, float* values)
{
    value = warp_maximum(value);
    if (threadIdx.x == 0) {
        values[threadIdx.y] = value;
    }
    __syncthreads();  // the maxima of all warps are there
    return warp_maximum(threadIdx.x < WARPS ? values[threadIdx.x] : LOWEST);
}

template <int WARPS>
__device__ float block_sum(float value, float* values)
{
    value = warp_sum(value);
    if (threadIdx.x == 0) {
        values[threadIdx.y] = value;
    }
    __syncthreads();  // the sums of all warps are there
    return warp_sum(threadIdx.x < WARPS ? values[threadIdx.x] : 0.0f);
}

// WIDTH neighbours of a row, read and written as one: a float4 if WIDTH is 4, a float if it is 1.
template <int WIDTH>
struct alignas(WIDTH * sizeof(float)) Pack {
    float lane[WIDTH];
};

// The packs of a row that a thread keeps: `first`, first + stride and so on, PACKS at most, of `count`.
template <int WIDTH, int PACKS>
struct Kept {
    Pack<WIDTH> packs[PACKS];

    // Loads them; behind the last one, what adds nothing: exp(-∞) is 0.
    __device__ void load(const float* x, int first, int stride, int count)
    {
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            const int pack = first + i * stride;
            if (pack < count) {
                packs[i] = reinterpret_cast<const Pack<WIDTH>*>(x)[pack];
            } else {
                #pragma unroll
                for (int j = 0; j < WIDTH; ++j) {
                    packs[i].lane[j] = -INFINITY;
                }
            }
        }
    }

    __device__ float maximum() const
    {
        float found = LOWEST;
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) {
                found = fmaxf(found, packs[i].lane[j]);
            }
        }
        return found;
    }

    // Puts exp(x - maximum) in the place of each element, and gives their sum.
    __device__ float exponentials(float maximum)
    {
        float sum = 0.0f;
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) {
                packs[i].lane[j] = expf(packs[i].lane[j] - maximum);
                sum += packs[i].lane[j];
            }
        }
        return sum;
    }

    // Stores all of them, multiplied by `scale`.
    __device__ void store(float* y, int first, int stride, int count, float scale) const
    {
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            const int pack = first + i * stride;
            if (pack < count) {
                Pack<WIDTH> scaled;
                #pragma unroll
                for (int j = 0; j < WIDTH; ++j) {
                    scaled.lane[j] = packs[i].lane[j] * scale;
                }
                reinterpret_cast<Pack<WIDTH>*>(y)[pack] = scaled;
            }
        }
    }
};

// out[i] = the softmax of row i of `in`; both are M × N, row-major, and N is a multiple of WIDTH. A warp
// takes a row of up to 32 · WIDTH · PACKS elements.
template <int WIDTH, int PACKS>
__global__ void __launch_bounds__(WARP * ROWS)
warp_rows(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    const int row = blockIdx.x * ROWS + threadIdx.y;
    if (row >= M) {
        return;  // the whole warp; no barrier follows
    }
    Kept<WIDTH, PACKS> kept;
    kept.load(in + size_t(row) * N, threadIdx.x, WARP, N / WIDTH);
    const float maximum = warp_maximum(kept.maximum());
    const float sum = warp_sum(kept.exponentials(maximum));
    kept.store(out + size_t(row) * N, threadIdx.x, WARP, N / WIDTH, 1.0f / sum);
}

// The same, a block a row of up to LONG elements.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * WARPS, BLOCKS_PER_SM)
block_rows(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float maxima[WARPS];
    __shared__ float sums[WARPS];
    const int thread = threadIdx.y * WARP + threadIdx.x;

    Kept<WIDTH, FLOATS / WIDTH> kept;
    kept.load(in + size_t(blockIdx.x) * N, thread, WARP * WARPS, N / WIDTH);
    const float maximum = block_maximum<WARPS>(kept.maximum(), maxima);
    const float sum = block_sum<WARPS>(kept.exponentials(maximum), sums);
    kept.store(out + size_t(blockIdx.x) * N, thread, WARP * WARPS, N / WIDTH, 1.0f / sum);
}

// The largest element of a piece of a row, and the sum of exp(element - largest), in one word.
using Pair = unsigned long long;

__device__ Pair pair_of(float maximum, float sum)
{
    return Pair(__float_as_uint(maximum)) << 32 | __float_as_uint(sum);
}

__device__ float maximum_of(Pair pair)
{
    return __uint_as_float(unsigned(pair >> 32));
}

__device__ float sum_of(Pair pair)
{
    return __uint_as_float(unsigned(pair));
}

// The same for rows that the blocks of a cluster share, a piece for each. Blocks in turn have the pieces of
// a row; a cluster has as many as a row has pieces.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * SMALL_WARPS, SMALL_PER_SM)
cluster_rows(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float maxima[SMALL_WARPS];
    __shared__ float sums[SMALL_WARPS];
    __shared__ Pair pairs[MOST];  // of the pieces of this block's row
    const cg::cluster_group cluster = cg::this_cluster();
    cluster.barrier_arrive();  // this block has begun: others may write to its shared memory

    const int pieces = cluster.num_blocks();
    const int piece = cluster.block_rank();
    const size_t row = blockIdx.x / pieces;
    const int thread = threadIdx.y * WARP + threadIdx.x;

    // The packs of this block's piece: `first` up to, but not including, `end`.
    const int share = (N / WIDTH + pieces - 1) / pieces;
    const int first = piece * share;
    const int end = min(first + share, N / WIDTH);

    Kept<WIDTH, MANY / WIDTH> kept;
    kept.load(in + row * N, first + thread, WARP * SMALL_WARPS, end);
    const float own_maximum = block_maximum<SMALL_WARPS>(kept.maximum(), maxima);
    const float own_sum = block_sum<SMALL_WARPS>(kept.exponentials(own_maximum), sums);

    cluster.barrier_wait();  // the others have begun, too
    if (thread < pieces) {
        *cluster.map_shared_rank(pairs + piece, thread) = pair_of(own_maximum, own_sum);
    }
    cluster.sync();  // all pairs are there, and nobody writes to a block that may have ended

    const Pair pair = threadIdx.x < pieces ? pairs[threadIdx.x] : pair_of(LOWEST, 0.0f);
    const float maximum = warp_maximum(maximum_of(pair));
    const float sum = warp_sum(sum_of(pair) * expf(maximum_of(pair) - maximum));
    const float scale = expf(own_maximum - maximum) / sum;
    kept.store(out + row * N, first + thread, WARP * SMALL_WARPS, end, scale);
}

// Waits until a pair has come. volatile: it is loaded anew each time, and not from the L1 cache.
__device__ Pair arrived(const volatile Pair* place)
{
    Pair pair = *place;
    while (pair == 0) {
        pair = *place;
    }
    return pair;
}

// The same for rows that more blocks share than a cluster has. Block (p, g) keeps piece p of row g, then of row g + gridDim.y
// and so on. pairs[row * gridDim.x + p] is the pair of a piece; all are 0 at first.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * WARPS, BLOCKS_PER_SM)
split_rows(const float* __restrict__ in, float* __restrict__ out, volatile Pair* pairs, int M, int N)
{
    __shared__ float maxima[WARPS];
    __shared__ float sums[WARPS];
    __shared__ float scale;
    const int thread = threadIdx.y * WARP + threadIdx.x;

    // The packs of this block's piece: `first` up to, but not including, `end`.
    const int share = (N / WIDTH + gridDim.x - 1) / gridDim.x;
    const int first = blockIdx.x * share;
    const int end = min(first + share, N / WIDTH);

    for (int row = blockIdx.y; row < M; row += gridDim.y) {
        Kept<WIDTH, FLOATS / WIDTH> kept;
        kept.load(in + size_t(row) * N, first + thread, WARP * WARPS, end);
        const float own_maximum = block_maximum<WARPS>(kept.maximum(), maxima);
        const float own_sum = block_sum<WARPS>(kept.exponentials(own_maximum), sums);

        if (threadIdx.y == 0) {  // one warp speaks for the block
            volatile Pair* const of_row = pairs + size_t(row) * gridDim.x;
            if (threadIdx.x == 0) {
                of_row[blockIdx.x] = pair_of(own_maximum, own_sum);
            }
            float maximum = LOWEST;
            float sum = 0.0f;
            for (int piece = threadIdx.x; piece < gridDim.x; piece += WARP) {
                const Pair pair = arrived(of_row + piece);
                const float larger = fmaxf(maximum, maximum_of(pair));
                sum = sum * expf(maximum - larger) + sum_of(pair) * expf(maximum_of(pair) - larger);
                maximum = larger;
            }
            const float row_maximum = warp_maximum(maximum);
            const float row_sum = warp_sum(sum * expf(maximum - row_maximum));
            if (threadIdx.x == 0) {
                scale = expf(own_maximum - row_maximum) / row_sum;
            }
        }
        __syncthreads();  // scale is there
        kept.store(out + size_t(row) * N, first + thread, WARP * WARPS, end, scale);
    }
}

// The same for rows that are longer than all blocks together can keep. They are read twice. A thread
// keeps the largest element so far and the sum of exp(element - largest), and scales that sum when a
// pack brings a larger one.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * WARPS)
long_rows(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float maxima[WARPS];
    __shared__ float sums[WARPS];
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    const int thread = threadIdx.y * WARP + threadIdx.x;
    Kept<WIDTH, 1> kept;

    float own_maximum = LOWEST;
    float own_sum = 0.0f;
    for (int pack = thread; pack < N / WIDTH; pack += WARP * WARPS) {
        kept.load(x, pack, 0, N / WIDTH);
        const float larger = fmaxf(own_maximum, kept.maximum());
        own_sum = own_sum * expf(own_maximum - larger) + kept.exponentials(larger);
        own_maximum = larger;
    }
    const float maximum = block_maximum<WARPS>(own_maximum, maxima);
    const float sum = block_sum<WARPS>(own_sum * expf(own_maximum - maximum), sums);
    for (int pack = thread; pack < N / WIDTH; pack += WARP * WARPS) {
        kept.load(x, pack, 0, N / WIDTH);
        kept.exponentials(maximum);
        kept.store(y, pack, 0, N / WIDTH, 1.0f / sum);
    }
}
