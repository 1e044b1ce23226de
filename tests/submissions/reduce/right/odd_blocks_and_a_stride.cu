// 61 blocks of 96 threads, three warps each, and a second launch of one warp.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["61 * 3"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = [61]
// block = [96]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums", "out", "183"]
// grid = [1]
// block = [32]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < N; i += size_t(gridDim.x) * blockDim.x)
        sum += in[i];
    for (int lane = 16; lane > 0; lane >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
    if (threadIdx.x % 32 == 0) out[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = sum;
}
