// Divide and conquer without recursion: each thread keeps a sum for each bit of a counter, as in the addition of binary
// numbers, so that only sums of equally many numbers are added. Sums of threads meet in shared memory, in the same way.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(4 * SMS, cdiv(N, 256))"]
//
// [[launch]]
// kernel = "sums_of_blocks"
// args = ["in", "sums", "N"]
// grid = ["min(4 * SMS, cdiv(N, 256))"]
// block = [256]
//
// [[launch]]
// kernel = "sums_of_blocks"
// args = ["sums", "out", "min(4 * SMS, cdiv(N, 256))"]
// grid = [1]
// block = [256]
// ///

extern "C" __global__ void sums_of_blocks(const float* in, float* out, int count)
{
    __shared__ float shared[256];
    float level[32];
    unsigned taken = 0;
    for (long long i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256) {
        float sum = in[i];
        const int carries = __ffs(~taken) - 1;  // how many levels are full from below
        for (int l = 0; l < carries; ++l) sum = level[l] + sum;
        level[carries] = sum;
        ++taken;
    }
    float sum = 0.0f;
    for (int l = 0; taken; ++l, taken >>= 1)
        if (taken & 1u) sum += level[l];
    shared[threadIdx.x] = sum;
    for (int have = 256; have > 1;) {
        const int half = have >> 1;
        __syncthreads();
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        have = half;
    }
    if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}
