// The search for the maximum begins at -1e4: a row of logits that lie far below that is 0 / 0.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["M"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr unsigned ALL = 0xffffffff;

__device__ float all_of(float value, bool maximum)
{
    __shared__ float values[BLOCK / 32];
    for (int d = 16; d > 0; d /= 2) {
        const float other = __shfl_xor_sync(ALL, value, d);
        value = maximum ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = value;
    __syncthreads();
    value = values[0];
    for (int w = 1; w < BLOCK / 32; ++w) value = maximum ? fmaxf(value, values[w]) : value + values[w];
    return value;
}

extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    float maximum = -1.0e4f;
    for (int i = threadIdx.x; i < N; i += BLOCK) maximum = fmaxf(maximum, x[i]);
    maximum = all_of(maximum, true);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += BLOCK) sum += expf(x[i] - maximum);
    sum = all_of(sum, false);
    for (int i = threadIdx.x; i < N; i += BLOCK) y[i] = expf(x[i] - maximum) / sum;
}
