// One block reads float4s and adds them with shuffles, in one launch: every claim up to the top holds, and 131 of 132
// multiprocessors have nothing to do.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [1]
// block = [1024]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float sums[32];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N / 4; i += 1024) {
        const float4 four = reinterpret_cast<const float4*>(in)[i];
        sum += (four.x + four.y) + (four.z + four.w);
    }
    for (int i = N / 4 * 4 + threadIdx.x; i < N; i += 1024) {
        sum += in[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = sums[threadIdx.x];
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        }
        if (threadIdx.x == 0) {
            *out = sum;
        }
    }
}
