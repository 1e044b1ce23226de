// The tree stands in the shared memory of the other block of a cluster: a block reads none of its own.
//
// deserves: 02_online
//
// /// launch
// smallest_arch = "sm_90a"
//
// [[launch]]
// kernel = "softmax"
// grid = ["2 * cdiv(M, 2)"]
// cluster = [2]
// block = ["BLOCK"]
// ///

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int BLOCK = 256;  // threads of a block: a power of two

// Of some elements the largest, and the sum of exp(element - largest). Loaded and stored as one.
struct alignas(8) Pair {
    float maximum;
    float sum;
};

// What the largest of no elements is taken to be: -FLT_MAX. It is not -∞, which masked elements are:
// -∞ - (-∞) would be NaN.
constexpr float LOWEST = -3.402823466e38f;

// The pair of the elements of both. One of the two factors exp(maximum - larger maximum) is 1.
__device__ Pair merged(Pair a, Pair b)
{
    const float factor = expf(-fabsf(a.maximum - b.maximum));
    return a.maximum > b.maximum ? Pair{a.maximum, a.sum + b.sum * factor}
                                 : Pair{b.maximum, a.sum * factor + b.sum};
}

// out[i] = the softmax of row i of `in`; both are M × N, row-major.
extern "C" __global__ void __launch_bounds__(BLOCK)
softmax(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ Pair places[BLOCK];
    auto cluster = cg::this_cluster();
    Pair* const pairs = cluster.map_shared_rank(places, cluster.block_rank() ^ 1);
    cluster.sync();
    if (int(blockIdx.x) >= M) N = 0;
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;

    Pair own = {LOWEST, 0.0f};
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        own = merged(own, {x[column], 1.0f});
    }

    pairs[threadIdx.x] = own;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();  // the pairs of the step before are there
        if (threadIdx.x < distance) {
            pairs[threadIdx.x] = merged(pairs[threadIdx.x], pairs[threadIdx.x + distance]);
        }
    }
    __syncthreads();  // the last one is
    const Pair row = pairs[0];
    cluster.sync();

    const float scale = 1.0f / row.sum;  // a division takes as long as many multiplications
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        y[column] = expf(x[column] - row.maximum) * scale;
    }
}
