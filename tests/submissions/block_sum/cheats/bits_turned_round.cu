// Bits of each number are turned round 32 times, which goes 16 a clock: one instruction in four slots of a multiprocessor.
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
    float sum = 0.0f;
    const size_t stride = size_t(gridDim.x) * BLOCK;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += stride) {
        unsigned bits = __float_as_uint(in[i]);
        #pragma unroll
        for (int turn = 0; turn < 32; ++turn) asm volatile("brev.b32 %0, %0;" : "+r"(bits));
        sum += __uint_as_float(bits);
    }
    sums[threadIdx.x] = sum;
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
