// The grid is as large as the GPU and no longer as large as the arrays: a thread adds element i, then
// the one that lies a whole grid further on, and so to the end. Such a loop is called a grid-stride
// loop. Neighbouring threads still take neighbouring elements at every step.
//
// What it should buy: a grid of any size is right, blocks are started once and not for every 256
// elements, and what a thread has worked out before the loop is used many times. The loop is unrolled
// by hand, four steps at a time, all reads before the first write: memory answers late, and a thread
// with eight reads on their way waits once where it would wait four times.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["min(SMS * BLOCKS_PER_SM, cdiv(N, BLOCK))"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;        // threads of a block
constexpr int BLOCKS_PER_SM = 8;  // 2048 threads, as many as a multiprocessor holds
constexpr int UNROLL = 4;         // steps whose reads a thread has under way at a time

// a, b and c have N elements each; c[i] = a[i] + b[i]. __restrict__ promises that c does not overlap
// a or b, so that reads may be moved before writes.
extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b,
                                      float* __restrict__ c, int N)
{
    // 64 bits: the step beyond the last element may no longer fit an int.
    const long long stride = static_cast<long long>(gridDim.x) * BLOCK;  // threads of the grid
    long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;

    for (; i + (UNROLL - 1) * stride < N; i += UNROLL * stride) {
        float sum[UNROLL];
        #pragma unroll
        for (int step = 0; step < UNROLL; ++step) {
            sum[step] = a[i + step * stride] + b[i + step * stride];
        }
        #pragma unroll
        for (int step = 0; step < UNROLL; ++step) {
            c[i + step * stride] = sum[step];
        }
    }
    for (; i < N; i += stride) {  // fewer than UNROLL steps are left
        c[i] = a[i] + b[i];
    }
}
