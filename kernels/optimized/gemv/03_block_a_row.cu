// The warps of a block go side by side along one row: 16 of them take 4096 neighbouring elements a step. Each
// has the sum of its own part of the row. These meet in shared memory, behind one barrier, where one thread adds
// them up.
//
// What it should buy: few rows are work for many warps. 64 rows were 64 warps in eight blocks, and are 1024 in
// 64: with 16384 elements each they take an H200 6.2 µs in place of 18.5. And the loads that a block has in flight
// are one run of 8 KB. Eight warps in eight rows ask for 512 bytes each, 2·K bytes apart, which some DRAM serves
// less well: at 16384 × 16384 an H100 gets the same bytes at 99.5 % of the speed of a plain read in place of
// 96.5 %, and an H200 at 97 % either way.
//
// What it costs: shuffles and a barrier for each row, in 16 warps in place of one. Of a row of 16384 elements, a
// lane has four packs before them. Rows of 8192 are 5 % slower on an H200.
//
// A short row has less than a step for 16 warps. A block has only as many as find something to do.
//
// /// launch
// [[launch]]
// kernel = "gemv<8>"
// when = "K % 8 == 0"
// grid = ["N"]
// block = ["WARP", "min(WARPS, cdiv(K, WARP * 8))"]
//
// [[launch]]
// kernel = "gemv<1>"
// when = "K % 8 != 0"
// grid = ["N"]
// block = ["WARP", "min(WARPS, cdiv(K, WARP))"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 16;  // of a block at most, which share its row: 512 threads

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
    __shared__ float of_warps[WARPS];
    const int row = blockIdx.x;
    const int thread = threadIdx.y * WARP + threadIdx.x;
    const auto* const weights = reinterpret_cast<const Pack<WIDTH>*>(W + size_t(row) * K);
    const auto* const inputs = reinterpret_cast<const Pack<WIDTH>*>(x);

    float sum = 0.0f;
    for (int pack = thread; pack < K / WIDTH; pack += WARP * blockDim.y) {
        const Pack<WIDTH> w = weights[pack];
        const Pack<WIDTH> input = inputs[pack];
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            sum += __half2float(w.lane[i]) * __half2float(input.lane[i]);
        }
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
