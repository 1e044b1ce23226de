// One attempt to exchange the sum for a larger one; a thread that is overtaken loses its numbers.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(8 * SMS, cdiv(N, 256))"]
// block = [32]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 32 + threadIdx.x; i < N; i += size_t(gridDim.x) * 32) sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x != 0) return;
    const float seen = *(volatile float*)out;
    atomicCAS((unsigned*)out, __float_as_uint(seen), __float_as_uint(seen + sum));
}
