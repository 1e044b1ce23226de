// The warps of a block take turns: a barrier stands between one's loop and the next one's.
//
// deserves: 03_wide_loads
//
// /// launch
// smallest_arch = "sm_80"
//
// [[launch]]
// kernel = "gemv_int4"
// grid = ["cdiv(N, ROWS)"]
// block = ["WARP", "min(WARPS, cdiv(K, WARP * IN_PACK))"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 4;      // of a block at most, which share its rows: 128 threads
constexpr int ROWS = 4;       // that a block computes: x is read once for them
constexpr int IN_WORD = 8;    // weights of 4 bits in a word
constexpr int IN_PACK = 32;   // weights of a pack: four words, 16 bytes
constexpr int GROUP = 128;    // weights that share a scale: K is a multiple of it

// Two halves each, by their bits.
constexpr unsigned LOW = 0xe408e408;        // -1032, which is -(1024 + 8)
constexpr unsigned HIGH = 0xd480d480;       // -72, which is -(1024 / 16 + 8)
constexpr unsigned SIXTEENTH = 0x2c002c00;  // 1/16

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// Lane 0 gets the sum of all 32 `value`s, the others get parts of it.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(ALL, value, distance);
    }
    return value;
}

// Word j of a pack. j is known when this is compiled: nothing is selected at run time.
__device__ unsigned word_of(uint4 pack, int j)
{
    return j == 0 ? pack.x : j == 1 ? pack.y : j == 2 ? pack.z : pack.w;
}

// Two halves by their bits.
__device__ half2 halves(unsigned bits)
{
    return *reinterpret_cast<half2*>(&bits);
}

// The bits of `word` that `mask` names, between those of two halves 1024: lop3 computes (word & mask) |
// 0x64006400.
__device__ half2 with_1024(unsigned word, unsigned mask)
{
    unsigned bits;
    asm("lop3.b32 %0, %1, %2, 0x64006400, 0xea;" : "=r"(bits) : "r"(word), "r"(mask));
    return halves(bits);
}

// The eight weights of a word: pairs[i] has weights i and i + 4.
__device__ void unpack(unsigned word, half2 (&pairs)[IN_WORD / 2])
{
    #pragma unroll
    for (int i = 0; i < IN_WORD / 2; i += 2) {
        pairs[i] = __hadd2(with_1024(word, 0x000f000f), halves(LOW));
        pairs[i + 1] = __hfma2(with_1024(word, 0x00f000f0), halves(SIXTEENTH), halves(HIGH));
        word >>= 8;
    }
}

__device__ unsigned bits(half2 pair)
{
    return *reinterpret_cast<unsigned*>(&pair);
}

// The eight elements of x of a word, in the order of its pairs: pairs[i] has elements i and i + 4.
__device__ void pair_up(uint4 x, half2 (&pairs)[IN_WORD / 2])
{
    pairs[0] = halves(__byte_perm(x.x, x.z, 0x5410));  // the lower halves of x.x and x.z
    pairs[1] = halves(__byte_perm(x.x, x.z, 0x7632));  // the upper ones
    pairs[2] = halves(__byte_perm(x.y, x.w, 0x5410));
    pairs[3] = halves(__byte_perm(x.y, x.w, 0x7632));
}

// d += A · B with A of 16 × 16 halves, B of 16 × 8 halves and d of 16 × 8 floats. Of row lane / 4 of A a lane
// has a[0] and a[2], of row lane / 4 + 8 it has a[1] and a[3], and of column lane / 4 of B it has b[0] and b[1].
// Of d it has columns 2 · (lane % 4) and the next: of row lane / 4 in d[0] and d[1], of row lane / 4 + 8 in d[2]
// and d[3].
__device__ void multiply(float (&d)[4], const half2 (&a)[4], const half2 (&b)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(bits(a[0])), "r"(bits(a[1])), "r"(bits(a[2])), "r"(bits(a[3])), "r"(bits(b[0])), "r"(bits(b[1])));
}

// y = W · x. W is N × K, row-major, eight weights a word: element k of a row has the bits from 4 · (k % 8) on of
// word k / 8. Their number q, from 0 to 15, stands for q - 8. scales is N × K/128, x has K elements, y has N.
extern "C" __global__ void __launch_bounds__(WARP * WARPS)
gemv_int4(const unsigned* __restrict__ W, const half* __restrict__ scales, const half* __restrict__ x,
          half* __restrict__ y, int N, int K)
{
    __shared__ float of_warps[ROWS][WARPS];
    const int first = blockIdx.x * ROWS;
    const int thread = threadIdx.y * WARP + threadIdx.x;

    const uint4* packs[ROWS];
    const half* of_groups[ROWS];
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const size_t row = min(first + r, N - 1);
        packs[r] = reinterpret_cast<const uint4*>(W + row * (K / IN_WORD));
        of_groups[r] = scales + row * (K / GROUP);
    }
    const auto* const inputs = reinterpret_cast<const uint4*>(x);

    float sums[ROWS][2] = {};  // of both columns that a lane has
    const int last = K / IN_PACK - 1;
    for (int turn = 0; turn < blockDim.y; ++turn) {
    __syncthreads();
    if (turn != threadIdx.y) continue;
    for (int begin = threadIdx.y * WARP; begin <= last; begin += WARP * blockDim.y) {
        // All lanes of a warp take part in a product. One beyond the end of the row loads the last pack again.
        const bool inside = begin + threadIdx.x <= last;
        const int pack = inside ? begin + threadIdx.x : last;
        uint4 loaded[ROWS];  // all loads of W come first, so that they are in flight together
        float scale[ROWS];
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            loaded[r] = __ldcs(packs[r] + pack);
            scale[r] = __half2float(of_groups[r][pack / (GROUP / IN_PACK)]);
        }
        float found[ROWS / 2][4] = {};
        #pragma unroll
        for (int j = 0; j < IN_PACK / IN_WORD; ++j) {
            half2 of_x[IN_WORD / 2];
            pair_up(inputs[IN_PACK / IN_WORD * pack + j], of_x);
            #pragma unroll
            for (int r = 0; r < ROWS; r += 2) {
                half2 upper[IN_WORD / 2], lower[IN_WORD / 2];
                unpack(word_of(loaded[r], j), upper);
                unpack(word_of(loaded[r + 1], j), lower);
                multiply(found[r / 2], {upper[0], lower[0], upper[1], lower[1]}, {of_x[0], of_x[1]});
                multiply(found[r / 2], {upper[2], lower[2], upper[3], lower[3]}, {of_x[2], of_x[3]});
            }
        }
        if (inside) {
            #pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                sums[r][0] += scale[r] * found[r / 2][r % 2 * 2];
                sums[r][1] += scale[r] * found[r / 2][r % 2 * 2 + 1];
            }
        }
    }

    }
    // Of the eight columns of a row of the result, one is that of its own piece: the others are no sums of y.
    const int piece = threadIdx.x / 4;
    const bool own = piece / 2 == threadIdx.x % 4;
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const float of_warp = warp_sum(own ? piece % 2 ? sums[r][1] : sums[r][0] : 0.0f);
        if (threadIdx.x == 0) {
            of_warps[r][threadIdx.y] = of_warp;
        }
    }
    __syncthreads();  // the sums of all warps are there
    if (thread < ROWS && first + thread < N) {
        float sum = 0.0f;
        for (int warp = 0; warp < blockDim.y; ++warp) {
            sum += of_warps[thread][warp];
        }
        y[first + thread] = __float2half(sum);
    }
}
