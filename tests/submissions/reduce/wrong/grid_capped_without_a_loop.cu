// At most 4096 blocks of 256, one number a thread.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(cdiv(N, 256), 4096)"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    float sum = i < N ? in[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
