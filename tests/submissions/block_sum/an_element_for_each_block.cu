// Each block adds to an element of its own, and out has one.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 128;

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float cache[BLOCK];
    size_t tid = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
    int cacheIndex = threadIdx.x;

    float temp = 0;
    while (tid < N) {
        temp += in[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();

    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0)
        atomicAdd(&out[blockIdx.x], cache[0]);
}
