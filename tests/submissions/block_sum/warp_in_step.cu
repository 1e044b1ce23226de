// The last steps of the tree have no barrier: the warp is taken to run in step.
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
    __shared__ float s[BLOCK];
    const int t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;

    s[t] = i < N ? in[i] : 0.0f;
    __syncthreads();

    for (int stride = BLOCK / 2; stride > 32; stride /= 2) {
        if (t < stride) {
            s[t] += s[t + stride];
        }
        __syncthreads();
    }
    // the last 32 threads are one warp, they run together
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
    }

    if (t == 0) {
        atomicAdd(&out[0], s[0]);
    }
}
