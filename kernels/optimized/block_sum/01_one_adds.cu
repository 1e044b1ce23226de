// A block first adds up its own numbers. Each thread puts its number into shared memory, all wait for
// each other, and thread 0 adds the 256 numbers and hands on one sum: one atomicAdd for a block in
// place of 256.
//
// What it should buy: a short queue. What it costs: while thread 0 adds, 255 threads have nothing to
// do.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and numbers that it adds

// out[0] += the sum of the N numbers of `in`. The launch block sets it to zero before.
extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float numbers[BLOCK];

    // Beyond the end of `in` stand zeros, which add nothing. No thread returns early: thread 0 adds
    // all places, so every one of them has to be written.
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    numbers[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();  // all numbers are there

    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int t = 0; t < BLOCK; ++t) {
            sum += numbers[t];
        }
        atomicAdd(out, sum);
    }
}
