// Blocks count themselves in a variable of the module, and the last one adds the sums of all. Nobody
// sets the counter back to zero: from the second call on, no block is the last.
//
// reason: second call
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, BLOCK)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "out", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

__device__ unsigned blocks_done = 0;

__device__ float block_sum(float value)
{
    __shared__ float sums[BLOCK];
    sums[threadIdx.x] = value;
    __syncthreads();
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) {
            sums[threadIdx.x] += sums[threadIdx.x + distance];
        }
        __syncthreads();
    }
    const float sum = sums[0];
    __syncthreads();
    return sum;
}

extern "C" __global__ void reduce(const float* in, float* sums, float* out, int N)
{
    __shared__ bool last;
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    const float own = block_sum(i < N ? in[i] : 0.0f);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = own;
        __threadfence();
        last = atomicAdd(&blocks_done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) {
        return;
    }
    float sum = 0.0f;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += BLOCK) {
        sum += __ldcg(&sums[block]);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        *out = sum;
    }
}
