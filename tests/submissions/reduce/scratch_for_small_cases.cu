// Wrong: the scratch array has room for the sums of 8192 blocks, whatever N is.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = [8192]
//
// [[launch]]
// kernel = "sum_blocks"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "sum_sums"
// args = ["sums", "out", "cdiv(N, BLOCK)"]
// grid = [1]
// block = [32]
// ///

constexpr int BLOCK = 128;

__device__ float warp_sum(float sum)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xFFFFFFFF, sum, distance);
    }
    return sum;
}

extern "C" __global__ void sum_blocks(const float* in, float* sums, int N)
{
    __shared__ float parts[BLOCK / 32];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const float sum = warp_sum(i < N ? in[i] : 0.0f);
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = parts[0] + parts[1] + parts[2] + parts[3];
    }
}

extern "C" __global__ void sum_sums(const float* sums, float* out, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += 32) {
        sum += sums[i];
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        out[0] = sum;
    }
}
