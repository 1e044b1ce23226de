// Block 0 sets the output to zero while others may have added to it.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(4 * SMS, cdiv(N, 256))"]
// block = [256]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) *out = 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
