// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, CHUNK)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "out", "N"]
// grid = ["cdiv(N, CHUNK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int CHUNK = 16 * BLOCK;

__device__ unsigned tickets = 0;

// numbers[0] is the sum of the threads' values.
__device__ void add_block(float* numbers, float value)
{
    numbers[threadIdx.x] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) numbers[threadIdx.x] += numbers[threadIdx.x + half];
        __syncthreads();
    }
}

extern "C" __global__ void reduce(const float* in, float* sums, float* out, int N)
{
    __shared__ float numbers[BLOCK];
    __shared__ bool last;

    const size_t end = min(size_t(N), size_t(blockIdx.x + 1) * CHUNK);
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * CHUNK + threadIdx.x; i < end; i += BLOCK) sum += in[i];
    add_block(numbers, sum);

    if (threadIdx.x == 0) {
        sums[blockIdx.x] = numbers[0];  //!
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;

    sum = 0.0f;
    for (int block = threadIdx.x; block < gridDim.x; block += BLOCK) sum += __ldcg(sums + block);  //~
    add_block(numbers, sum);
    if (threadIdx.x == 0) *out = numbers[0];
}
