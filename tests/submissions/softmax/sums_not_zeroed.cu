// Mistake: two blocks a row add to its sum in scratch memory, which nobody has set to zero.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["M"]
//
// [[launch]]
// kernel = "add"
// args = ["in", "sums", "M", "N"]
// grid = ["M", 2]
// block = ["WARP"]
//
// [[launch]]
// kernel = "divide"
// args = ["in", "sums", "out", "M", "N"]
// grid = ["M", 2]
// block = ["WARP"]
// ///

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffff;

__device__ float maximum_of(const float* x, int N)
{
    float maximum = -INFINITY;
    for (int column = threadIdx.x; column < N; column += WARP) {
        maximum = fmaxf(maximum, x[column]);
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        maximum = fmaxf(maximum, __shfl_xor_sync(ALL, maximum, distance));
    }
    return maximum;
}

extern "C" __global__ void add(const float* in, float* sums, int M, int N)
{
    const float* const x = in + size_t(blockIdx.x) * N;
    const float maximum = maximum_of(x, N);
    float sum = 0.0f;
    for (int column = blockIdx.y * WARP + threadIdx.x; column < N; column += 2 * WARP) {
        sum += expf(x[column] - maximum);
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(ALL, sum, distance);
    }
    if (threadIdx.x == 0) {
        atomicAdd(&sums[blockIdx.x], sum);
    }
}

extern "C" __global__ void divide(const float* in, const float* sums, float* out, int M, int N)
{
    const float* const x = in + size_t(blockIdx.x) * N;
    const float maximum = maximum_of(x, N);
    for (int column = blockIdx.y * WARP + threadIdx.x; column < N; column += 2 * WARP) {
        out[size_t(blockIdx.x) * N + column] = expf(x[column] - maximum) / sums[blockIdx.x];
    }
}
