// atomicAdd is given a value in place of an address.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and numbers that it adds

// in holds N floats, out one.
extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;

    if (i < N) {
        atomicAdd(out[0], in[i]);
    }
}
