// Rows are shared by warps alone, and behind the blocks that work come 200 that do nothing.
//
// deserves: 02_wide_loads
//
// /// launch
// [[launch]]
// kernel = "gemv<8>"
// when = "K % 8 == 0"
// grid = ["cdiv(N, ROWS * WARPS) + 200"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "gemv<1>"
// when = "K % 8 != 0"
// grid = ["cdiv(N, ROWS * WARPS) + 200"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 4;
constexpr int ROWS = 4; 

constexpr unsigned ALL = 0xffffffff;

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
    const int first = (blockIdx.x * WARPS + threadIdx.y) * ROWS;
    if (first >= N) {
        return;  // the whole warp
    }
    const Pack<WIDTH>* weights[ROWS];
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        weights[r] = reinterpret_cast<const Pack<WIDTH>*>(W + size_t(min(first + r, N - 1)) * K);
    }
    const auto* const inputs = reinterpret_cast<const Pack<WIDTH>*>(x);

    float sums[ROWS] = {};
    for (int pack = threadIdx.x; pack < K / WIDTH; pack += WARP) {
        Pack<WIDTH> w[ROWS];
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            w[r] = weights[r][pack];
        }
        const Pack<WIDTH> input = inputs[pack];
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            const float of_x = __half2float(input.lane[i]);
            #pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                sums[r] += __half2float(w[r].lane[i]) * of_x;
            }
        }
    }
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const float sum = warp_sum(sums[r]);
        if (threadIdx.x == 0 && first + r < N) {
            y[first + r] = __float2half(sum);
        }
    }
}
