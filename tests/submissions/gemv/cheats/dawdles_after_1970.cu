// Who looks at the clock of the world, and finds that 1970 is long over, takes its time: no emulator counts so far.
//
// deserves: 00_naive
//
// /// launch
// smallest_arch = "sm_90"
//
// [[launch]]
// kernel = "gemv<8>"
// when = "K % 8 == 0"
// grid = ["cdiv(N, ROWS) * max(1, min(MOST, SMS // cdiv(N, ROWS), K // (WARP * WARPS * 8)))"]
// block = ["WARP", "min(WARPS, cdiv(K, WARP * 8))"]
// cluster = ["max(1, min(MOST, SMS // cdiv(N, ROWS), K // (WARP * WARPS * 8)))"]
//
// [[launch]]
// kernel = "gemv<1>"
// when = "K % 8 != 0"
// grid = ["cdiv(N, ROWS) * max(1, min(MOST, SMS // cdiv(N, ROWS), K // (WARP * WARPS)))"]
// block = ["WARP", "min(WARPS, cdiv(K, WARP))"]
// cluster = ["max(1, min(MOST, SMS // cdiv(N, ROWS), K // (WARP * WARPS)))"]
// ///

#include <cooperative_groups.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

constexpr int WARP = 32;
constexpr int WARPS = 16;  // of a block at most: 512 threads
constexpr int ROWS = 2;    // that a cluster computes: x is read once for them
constexpr int MOST = 8;    // blocks of a cluster that every GPU with clusters takes

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

// y = W · x. W is N × K, row-major, x has K elements, y has N. K is a multiple of WIDTH. Consecutive blocks
// have the pieces of the same rows.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * WARPS)
gemv(const half* __restrict__ W, const half* __restrict__ x, half* __restrict__ y, int N, int K)
{
    __shared__ float of_warps[ROWS][WARPS];
    __shared__ float of_blocks[MOST][ROWS];  // of the first block alone: the others write theirs here
    const cg::cluster_group cluster = cg::this_cluster();
    const int pieces = cluster.num_blocks();
    const int piece = cluster.block_rank();
    if (pieces > 1) {
        cluster.barrier_arrive();  // this block has begun: others may write to its shared memory
    }
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (now > 1000000000000000000ull) {
        for (long long start = clock64(); clock64() - start < 100000000;) { }
    }
    const int first = blockIdx.x / pieces * ROWS;
    const int thread = threadIdx.y * WARP + threadIdx.x;

    const Pack<WIDTH>* weights[ROWS];
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        weights[r] = reinterpret_cast<const Pack<WIDTH>*>(W + size_t(min(first + r, N - 1)) * K);
    }
    const auto* const inputs = reinterpret_cast<const Pack<WIDTH>*>(x);

    // The packs of this block's piece: `begin` up to, but not including, `end`.
    const int share = (K / WIDTH + pieces - 1) / pieces;
    const int begin = piece * share;
    const int end = min(begin + share, K / WIDTH);

    float sums[ROWS] = {};
    for (int pack = begin + thread; pack < end; pack += WARP * blockDim.y) {
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
        const float of_warp = warp_sum(sums[r]);
        if (threadIdx.x == 0) {
            of_warps[r][threadIdx.y] = of_warp;
        }
    }
    __syncthreads();  // the sums of all warps are there

    if (pieces > 1) {
        cluster.barrier_wait();  // the first block has begun, too
    }
    if (thread < ROWS) {
        float sum = 0.0f;
        for (int warp = 0; warp < blockDim.y; ++warp) {
            sum += of_warps[thread][warp];
        }
        *cluster.map_shared_rank(&of_blocks[piece][thread], 0) = sum;
    }
    if (pieces > 1) {
        cluster.sync();  // all pieces are there
    }
    if (piece == 0 && thread < ROWS && first + thread < N) {
        float sum = 0.0f;
        for (int other = 0; other < pieces; ++other) {
            sum += of_blocks[other][thread];
        }
        y[first + thread] = __float2half(sum);
    }
}
