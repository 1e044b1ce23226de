// As many blocks as the GPU can hold at a time, whatever N is. Each thread walks through the array
// with the stride of the whole grid and adds in a register; what it has at the end goes into the
// tree, once.
//
// What it should buy: the tree, its barriers, the atomicAdd and the start of the block itself are
// paid once for some hundred thousand numbers in place of once for 256. What is left is reading.
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
        sum += in[i];
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
