// A lane loads eight neighbouring halves at once: 16 bytes, the most that one load brings. A warp still
// takes a row, and goes along it 256 elements a step.
//
// What it should buy: an eighth of the load requests for the same sectors. A multiprocessor keeps only so
// many requests in flight, and each is now for 512 bytes in place of 64: more of DRAM's latency is hidden.
//
// A load of 16 bytes wants an address that is a multiple of 16. Row n begins n · 2·K bytes behind the
// start of W, which is such an address for every n only if K is a multiple of 8. Where it is not, the same
// kernel is launched with WIDTH 1 and loads single halves.
//
// /// launch
// [[launch]]
// kernel = "gemv<8>"
// when = "K % 8 == 0"
// grid = ["cdiv(N, WARPS)"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "gemv<1>"
// when = "K % 8 != 0"
// grid = ["cdiv(N, WARPS)"]
// block = ["WARP", "WARPS"]
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
