// Every thread adds its number to the output. Two threads that each read a sum, add to it and write
// it back can lose one of the two additions, so the addition has to be atomic: atomicAdd reads, adds
// and writes as one step that no other thread can come between.
//
// What it costs: all N additions go to one word, and the L2 cache makes them one after the other. A
// hundred thousand threads stand in a queue. And of numbers that are about 1, one float can take no
// more than 2^24: from there on, adding 1 to it changes nothing.
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
    // In 64 bits, so that no size of a block makes the last index too large for an int.
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    if (i < N) {
        atomicAdd(out, in[i]);
    }
}
