// A lane loads four neighbouring words of a row at once: 16 bytes, a pack of 32 weights, a quarter of a group.
// They meet 32 elements of x, four loads of 16 bytes.
//
// What it should buy: a quarter of the load requests for W, and of those for scales, since a scale is now read
// for 32 weights in place of 8. A warp that has a request for each of four rows in flight waits for 2 KB in
// place of 512 bytes.
//
// What it costs: lanes are now 64 bytes apart in x, so that a request for x touches 32 sectors and uses half of
// each. The other half is wanted by the next request, and comes from the L1 cache as well.
//
// Every row begins at a multiple of 64 bytes, because K is a multiple of 128 weights: packs are always aligned,
// and nothing is left over.
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
                const unsigned word = word_of(loaded[r], j);
                #pragma unroll
                for (int i = 0; i < IN_WORD; ++i) {
                    const int weight = int(word >> 4 * i & 15) - 8;
                    of_packs[r] += float(weight) * of_x[i];
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
