// A block takes a row. Its four warps go side by side along it, a lane takes a word and the eight elements of x
// that belong to it, and 32 neighbouring lanes take 32 neighbouring words. A word lies within one group: its sum
// is multiplied by the group's scale. The sums of lanes are added up by shuffles, those of warps in shared
// memory, as in gemv.
//
// What it should buy: a load request for W touches four sectors in place of 32, and 128 times as many threads
// keep loads in flight.
//
// What it costs: x is read once for each row. It has 2 bytes for a weight's half byte: four times W's sectors.
// They come from the L1 cache, which costs requests and no DRAM.
//
// /// launch
// [[launch]]
// kernel = "gemv_int4"
// grid = ["N"]
// block = ["WARP", "min(WARPS, cdiv(K, WARP * IN_WORD))"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 4;      // of a block at most, which share its row: 128 threads
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
    __shared__ float of_warps[WARPS];
    const int row = blockIdx.x;
    const int thread = threadIdx.y * WARP + threadIdx.x;
    const unsigned* const words = W + size_t(row) * (K / IN_WORD);
    const half* const of_groups = scales + size_t(row) * (K / GROUP);
    const auto* const inputs = reinterpret_cast<const Halves*>(x);

    float sum = 0.0f;
    for (int place = thread; place < K / IN_WORD; place += WARP * blockDim.y) {
        const unsigned word = words[place];
        const Halves input = inputs[place];
        float of_word = 0.0f;
        #pragma unroll
        for (int i = 0; i < IN_WORD; ++i) {
            const int weight = int(word >> 4 * i & 15) - 8;
            of_word += float(weight) * __half2float(input.lane[i]);
        }
        sum += __half2float(of_groups[place / (GROUP / IN_WORD)]) * of_word;
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        of_warps[threadIdx.y] = sum;
    }
    __syncthreads();  // the sums of all warps are there
    if (thread == 0) {
        float of_row = 0.0f;
        for (int warp = 0; warp < blockDim.y; ++warp) {
            of_row += of_warps[warp];
        }
        y[row] = __float2half(of_row);
    }
}
