// A tree in shared memory: each block brings 256 numbers in and adds neighbours, then neighbouring
// sums, until one is left. Every second thread adds in the first step, every fourth in the second.
// The block leaves its sum in an array, and three further launches reduce that array in the same
// way, 256 sums to one, until one remains: 256⁴ numbers are more than an int can count.
//
// What it costs: the threads that add are spread over all warps. After five steps one thread in 32
// still works, but a warp runs as long as any of its threads does: eight warps do 8 + 8 + 8 + 8 + 8 +
// 4 + 2 + 1 = 47 turns, where 255 additions would fit 12.
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

    // Beyond the end of `in` stand zeros, which add nothing. The index is formed in 64 bits: that
    // of the last block's last thread may no longer fit an int.
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    sums[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();  // all numbers are there

    // After the step with `distance`, every (2·distance)-th place holds the sum of the 2·distance
    // numbers that begin there.
    for (int distance = 1; distance < BLOCK; distance *= 2) {
        if (threadIdx.x % (2 * distance) == 0) {
            sums[threadIdx.x] += sums[threadIdx.x + distance];
        }
        __syncthreads();  // the sums of this step are complete
    }

    if (threadIdx.x == 0) {
        out[blockIdx.x] = sums[0];
    }
}
