// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(cdiv(N, 256), 8 * SMS)"]
// block = [256]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *out = 0.0f;  //!
    }
    __syncthreads();

    const size_t stride = size_t(gridDim.x) * blockDim.x;
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < N; i += stride) {
        sum += in[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out, sum);  //~
    }
}
