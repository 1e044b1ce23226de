// The tree is turned round: a step adds the upper half of the places to the lower half, so distances
// fall from 128 to 1 where they rose from 1 to 128. Which numbers meet does not matter to a sum.
//
// What it should buy: neighbouring threads read and write neighbouring words, each bank once. No
// bank conflicts are left, and the warps at work are as few as before.
//
// Source: M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007.
//
// /// launch
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

    // After the step with `distance`, the first `distance` places hold sums, and the others nothing
    // that is still needed.
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) {
            sums[threadIdx.x] += sums[threadIdx.x + distance];
        }
        __syncthreads();  // the sums of this step are complete
    }

    if (threadIdx.x == 0) {
        out[blockIdx.x] = sums[0];
    }
}
