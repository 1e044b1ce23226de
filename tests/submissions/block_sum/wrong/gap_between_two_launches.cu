// One launch takes N < 131072 and another N > 131072: nobody adds 131,072 numbers (N = 131072 alone)
//
// reason: no launch applies where N=131072
//
// /// launch
// [[launch]]
// kernel = "small"
// when = "N < 131072"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
//
// [[launch]]
// kernel = "large"
// when = "N > 131072"
// grid = ["SMS * 4"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

__device__ void add(float sum, float* out)
{
    __shared__ float sums[BLOCK / 32];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; ++w) sum += sums[w];
        atomicAdd(out, sum);
    }
}

extern "C" __global__ void small(const float* __restrict__ in, float* __restrict__ out, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    add(i < N ? in[i] : 0.0f, out);
}

extern "C" __global__ void large(const float* __restrict__ in, float* __restrict__ out, int N)
{
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += size_t(gridDim.x) * BLOCK) sum += in[i];
    add(sum, out);
}
