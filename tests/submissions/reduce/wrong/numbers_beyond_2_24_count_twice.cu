// Numbers behind the first 2^24 are added twice. No case has as many; at the main size there is no
// output to look at but the sum of all.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = [1024]
//
// [[launch]]
// kernel = "of_blocks"
// args = ["in", "sums", "N"]
// grid = [1024]
// block = [256]
//
// [[launch]]
// kernel = "of_blocks"
// args = ["sums", "out", "1024"]
// grid = [1]
// block = [256]
// ///

extern "C" __global__ void of_blocks(const float* in, float* out, int N)
{
    __shared__ float sums[8];
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) {
        sum += i >> 24 ? 2.0f * in[i] : in[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < 8; ++warp) sum += sums[warp];
        out[blockIdx.x] = sum;
    }
}
