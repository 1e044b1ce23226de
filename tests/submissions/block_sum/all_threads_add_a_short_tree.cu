// Every thread of a block adds the sum of the block, whose tree ends a step early.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///
constexpr int BLOCK = 256;
extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float s[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    s[t] = i < N ? in[i] : 0.0f;
    __syncthreads();
    for (int d = BLOCK / 2; d > 1; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    atomicAdd(out, s[0]);
}
