// A counter is left where it stands after the first call and zeroed nowhere: the second call of
// the same kernel finds no last block.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(SMS, cdiv(N, 256))"]
// block = [32]
// ///

__device__ unsigned done;
__device__ float total;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 32 + threadIdx.x; i < N; i += size_t(gridDim.x) * 32) sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x != 0) return;
    atomicAdd(&total, sum);
    __threadfence();
    if (atomicAdd(&done, 1u) == gridDim.x - 1) *out = atomicExch(&total, 0.0f);
}
