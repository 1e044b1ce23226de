// A tree in which the first threads work: thread t adds the t-th pair of a step, where in rung 00
// every second, fourth, eighth one adds. Warps without work are done with a step at once.
//
// What it should buy: 4 + 2 + 1 + 1 + 1 + 1 + 1 + 1 = 12 turns of a warp in place of 47. What it
// costs: neighbouring threads now work 2·distance places apart. At a distance of 16 they are 32
// places apart, all in one bank, and the eight that are at work wait for each other.
//
// Source: M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007.
//
// /// launch
// side_step = true
//
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, BLOCK)"]
//
// [[scratch]]
// name = "sums_of_sums"
// dtype = "float32"
// shape = ["cdiv(N, BLOCK * BLOCK)"]
//
// [[scratch]]
// name = "last_sums"
// dtype = "float32"
// shape = ["cdiv(N, BLOCK * BLOCK * BLOCK)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums", "sums_of_sums", "cdiv(N, BLOCK)"]
// grid = ["cdiv(N, BLOCK * BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums_of_sums", "last_sums", "cdiv(N, BLOCK * BLOCK)"]
// grid = ["cdiv(N, BLOCK * BLOCK * BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "reduce"
// args = ["last_sums", "out", "cdiv(N, BLOCK * BLOCK * BLOCK)"]
// grid = [1]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and numbers that it adds: a power of two

// out[b] = the sum of block b's BLOCK numbers of `in`, which holds N.
extern "C" __global__ void reduce(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK];

    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    sums[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();  // all numbers are there

    for (int distance = 1; distance < BLOCK; distance *= 2) {
        const int place = 2 * distance * threadIdx.x;
        if (place < BLOCK) {
            sums[place] += sums[place + distance];
        }
        __syncthreads();  // the sums of this step are complete
    }

    if (threadIdx.x == 0) {
        out[blockIdx.x] = sums[0];
    }
}
