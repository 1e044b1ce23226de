// Weights become halves by their bits, two at a time. No integer is converted to a number with a point.
//
// A half has a sign, 5 bits of exponent and 10 of fraction. From 1024 to 2047 the exponent is such that the last
// bit is worth 1. So the bits of 1024, 0x6400, with four bits q put in are
//
//     0 11001 000000qqqq    the half 1024 + q,          or, four places further up,
//     0 11001 00qqqq0000    the half 1024 + 16 · q.
//
// A word has room for two halves. One lop3, an instruction for any logical function of three words, picks two
// nibbles that are 16 bits apart and sets the exponents around them:
//
//     word            q7  q6  q5  q4  q3  q2  q1  q0
//
//     & 0x000f000f     0   0   0  q4   0   0   0  q0
//     | 0x64006400     6   4   0  q4   6   4   0  q0     the halves 1024 + q4 and 1024 + q0
//
//     & 0x00f000f0     0   0  q5   0   0   0  q1   0
//     | 0x64006400     6   4  q5   0   6   4  q1   0     the halves 1024 + 16 · q5 and 1024 + 16 · q1
//
// One instruction adds -1032 to both halves of a word, and leaves q - 8. Another multiplies by 1/16 and adds
// -72, and leaves q - 8 of the other two. Both are exact: the numbers are multiples of 1 below 2048, or of 1/16
// before they are rounded, once. A shift by 8 brings q2, q6, q3 and q7 to where these were. A pair has elements
// i and i + 4 of a word, which is why x[i] and x[i + 4] go with it.
//
// What it should buy: the 8 weights of a word take 9 instructions, and 8 conversions from half to float. They
// took 8 shifts, masks, subtractions and conversions from int. For sm_90, the loop has 484 instructions for the
// 128 weights of a lane's step in place of 674.
//
// Products remain floats: (q - 8) · x has 15 significant bits, and a half has 11.
//
// /// launch
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

// Eight neighbours of x, loaded as one: 16 bytes.
struct alignas(8 * sizeof(half)) Halves {
    half lane[8];
};

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
    const auto* const inputs = reinterpret_cast<const Halves*>(x);

    float sums[ROWS] = {};
    for (int pack = thread; pack < K / IN_PACK; pack += WARP * blockDim.y) {
        uint4 loaded[ROWS];  // all loads of W come first, so that they are in flight together
        float scale[ROWS];
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            loaded[r] = packs[r][pack];
            scale[r] = __half2float(of_groups[r][pack / (GROUP / IN_PACK)]);
        }
        float of_packs[ROWS] = {};
        #pragma unroll
        for (int j = 0; j < IN_PACK / IN_WORD; ++j) {
            const Halves input = inputs[IN_PACK / IN_WORD * pack + j];
            float of_x[IN_WORD];
            #pragma unroll
            for (int i = 0; i < IN_WORD; ++i) {
                of_x[i] = __half2float(input.lane[i]);
            }
            #pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                half2 pairs[IN_WORD / 2];
                unpack(word_of(loaded[r], j), pairs);
                #pragma unroll
                for (int i = 0; i < IN_WORD / 2; ++i) {
                    of_packs[r] += __half2float(pairs[i].x) * of_x[i];
                    of_packs[r] += __half2float(pairs[i].y) * of_x[i + IN_WORD / 2];
                }
            }
        }
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            sums[r] += scale[r] * of_packs[r];
        }
    }
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const float of_warp = warp_sum(sums[r]);
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
