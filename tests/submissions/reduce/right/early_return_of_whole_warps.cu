// Warps without any number of their own return at once; those that stay know how many they are.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 1024)"]
//
// [[launch]]
// kernel = "blocks"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, 1024)"]
// block = [1024]
//
// [[launch]]
// kernel = "last"
// args = ["sums", "out", "cdiv(N, 1024)"]
// grid = [1]
// block = [32]
// ///

__device__ float warp_sum(float value)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
    return value;
}

extern "C" __global__ void blocks(const float* in, float* sums, int N)
{
    __shared__ float of_warps[32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t first = size_t(blockIdx.x) * 1024;
    const int warps = min(size_t(32), (N - first + 31) / 32);
    if (warp >= warps) return;
    const size_t i = first + threadIdx.x;
    const float sum = warp_sum(i < N ? in[i] : 0.0f);
    if (lane == 0) of_warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const float all = warp_sum(lane < warps ? of_warps[lane] : 0.0f);
        if (lane == 0) sums[blockIdx.x] = all;
    }
}

extern "C" __global__ void last(const float* sums, float* out, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += 32) sum += sums[i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) *out = sum;
}
