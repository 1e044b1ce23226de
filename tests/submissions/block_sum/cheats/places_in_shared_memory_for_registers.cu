// A thread adds each number to its place in shared memory, and not to a register.
//
// deserves: 02_tree
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(SMS * BLOCKS_PER_SM, cdiv(N, BLOCK * FEWEST))"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;        // threads of a block: a power of two
constexpr int BLOCKS_PER_SM = 8;  // 2048 threads on each multiprocessor, all that it can hold
constexpr int FEWEST = 8;         // numbers a thread: for a short array, fewer blocks are launched

// out[0] += the sum of the N numbers of `in`. The launch block sets it to zero before.
extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK];

    // On each turn of the loop, the grid's threads take neighbouring numbers. The compiler makes four
    // turns into one, whose four loads do not wait for each other.
    volatile float* const own = &sums[threadIdx.x];
    *own = 0.0f;
    const size_t stride = size_t(gridDim.x) * BLOCK;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += stride) {
        *own = *own + in[i];
    }
    __syncthreads();  // the sums of all threads are there

    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        __syncthreads();  // the sums of this step are complete; every thread comes here
    }

    if (threadIdx.x == 0) {
        atomicAdd(out, sums[0]);
    }
}
