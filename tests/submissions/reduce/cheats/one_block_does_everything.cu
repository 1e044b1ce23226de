// One block of 1024 threads, float4s, shuffles, one launch: all claims hold, at a hundredth of the
// speed.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [1]
// block = [1024]
// ///

__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
    return value;
}

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float sums[32];
    const float4* const fours = reinterpret_cast<const float4*>(in);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N / 4; i += 1024) {
        const float4 four = fours[i];
        sum += (four.x + four.y) + (four.z + four.w);
    }
    if (threadIdx.x < N % 4) sum += in[N / 4 * 4 + threadIdx.x];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(sums[threadIdx.x]);
        if (threadIdx.x == 0) *out = sum;
    }
}
