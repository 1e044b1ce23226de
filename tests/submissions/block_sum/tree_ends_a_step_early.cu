// Mistake: the tree ends with two sums left, of which one is added.
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
    __shared__ float part[BLOCK];
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    part[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();
    for (int s = BLOCK / 2; s > 1; s >>= 1) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, part[0]);
}
