// A block takes four rows. Eight elements of x are loaded and turned into floats once, and multiplied by four
// words, one of each row.
//
// What it should buy: x has four times the bytes of a row of W, and is read once for four rows: two times W's
// sectors in place of five. Conversions of x are shared by four weights, too. And a lane has four words of W in
// flight in place of one: that is what hides DRAM's latency.
//
// What it costs: where rows are few, a quarter of the blocks, and registers for four words, four sums and eight
// elements of x.
//
// N may be no multiple of four. The rows beyond the end are then taken to be the last row: it is read again,
// from the cache, and its sum is not stored again.
//
// /// launch
// [[launch]]
// kernel = "gemv_int4"
// grid = ["cdiv(N, ROWS)"]
// block = ["WARP", "min(WARPS, cdiv(K, WARP * IN_WORD))"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 4;      // of a block at most, which share its rows: 128 threads
constexpr int ROWS = 4;       // that a block computes: x is read once for them
constexpr int IN_WORD = 8;    // weights of 4 bits in a word
constexpr int GROUP = 128;    // weights that share a scale: K is a multiple of it

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

// y = W · x. W is N × K, row-major, eight weights a word: element k of a row has the bits from 4 · (k % 8) on of
// word k / 8. Their number q, from 0 to 15, stands for q - 8. scales is N × K/128, x has K elements, y has N.
extern "C" __global__ void __launch_bounds__(WARP * WARPS)
gemv_int4(const unsigned* __restrict__ W, const half* __restrict__ scales, const half* __restrict__ x,
          half* __restrict__ y, int N, int K)
{
    __shared__ float of_warps[ROWS][WARPS];
    const int first = blockIdx.x * ROWS;
    const int thread = threadIdx.y * WARP + threadIdx.x;

    const unsigned* words[ROWS];
    const half* of_groups[ROWS];
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const size_t row = min(first + r, N - 1);
        words[r] = W + row * (K / IN_WORD);
        of_groups[r] = scales + row * (K / GROUP);
    }
    const auto* const inputs = reinterpret_cast<const Halves*>(x);

    float sums[ROWS] = {};
    for (int place = thread; place < K / IN_WORD; place += WARP * blockDim.y) {
        unsigned loaded[ROWS];  // all loads of W come first, so that they are in flight together
        float scale[ROWS];
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            loaded[r] = words[r][place];
            scale[r] = __half2float(of_groups[r][place / (GROUP / IN_WORD)]);
        }
        const Halves input = inputs[place];
        float of_words[ROWS] = {};
        #pragma unroll
        for (int i = 0; i < IN_WORD; ++i) {
            const float of_x = __half2float(input.lane[i]);
            #pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int weight = int(loaded[r] >> 4 * i & 15) - 8;
                of_words[r] += float(weight) * of_x;
            }
        }
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            sums[r] += scale[r] * of_words[r];
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
