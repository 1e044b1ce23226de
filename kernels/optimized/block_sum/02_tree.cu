// The threads of a block share the adding. In the first step 128 threads each add one number of the
// upper half to one of the lower half; then 64 threads do the same with what is left, then 32, until
// one sum remains: a tree.
//
// What it should buy: 8 steps in place of 256 additions in a row. Most of them are done by one or two
// warps; the others only come to the barrier. On an H200 it takes as long as rung 01: what a block of
// 256 numbers waits for is not its additions. The next rung has the same tree for far more numbers.
//
// /// launch
// side_step = true
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and numbers that it adds: a power of two

// out[0] += the sum of the N numbers of `in`. The launch block sets it to zero before.
extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK];

    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    sums[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();  // all numbers are there

    // After a step, the first `half` places hold sums, and the others nothing that is still needed.
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
