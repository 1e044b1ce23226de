// One thread for each output: it adds up the 17 elements around its own, straight from global memory.
// Beyond either end of the array there is nothing to add.
//
// What it costs: neighbouring outputs share all but one of their elements, and still each thread reads
// all of its 17. So every element of `in` is asked for 17 times. The L1 cache has it after the first
// time, and yet each of these requests takes an instruction, an address and a turn of the cache.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and outputs
constexpr int R = 8;        // the radius: how far the stencil reaches to either side

// in and out have N elements each; out[i] = in[i - R] + … + in[i + R].
extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= N) {
        return;
    }

    float sum = 0.0f;
    for (int offset = -R; offset <= R; ++offset) {
        // Elements before the first and behind the last count as zero. The first test is i + offset
        // < N, written so that nothing in it exceeds an int, however long the array.
        if (offset < N - i && i + offset >= 0) {
            sum += in[i + offset];
        }
    }
    out[i] = sum;
}
