// A warp takes four rows at a time. A pack of x is loaded and turned into floats once, and multiplied by
// four packs of W, one of each row.
//
// What it should buy: x is read once for four rows, which leaves 5/4 of W's sectors in place of twice as
// many, and three in eight conversions are spared. And the four loads of W do not wait for one another: a lane
// has 64 bytes of W in flight, twice that where the compiler begins the next step early. By Little's law a
// GPU that reads 4 TB/s with 800 ns of latency needs 3.2 MB in flight, 25 KB on each of 132
// multiprocessors; 24 warps of such lanes have 48 KB.
//
// The last rows may be fewer than four. Rows beyond the end are taken to be the last row: it is read again,
// from the cache, and its sum is not stored again.
//
// /// launch
// [[launch]]
// kernel = "gemv<8>"
// when = "K % 8 == 0"
// grid = ["cdiv(N, ROWS * WARPS)"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "gemv<1>"
// when = "K % 8 != 0"
// grid = ["cdiv(N, ROWS * WARPS)"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 4;  // of a block: few, so that a block ends soon and the next can begin
constexpr int ROWS = 4;   // that a warp computes at a time: with more, fewer warps find registers

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
        Pack<WIDTH> w[ROWS];  // all loads come first, so that they are in flight together
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
