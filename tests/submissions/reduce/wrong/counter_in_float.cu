// The grid-stride loop counts in float: from 2²⁴ on, adding one thread's stride may go nowhere or
// too far.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [33]
// block = [96]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    float sum = 0.0f;
    for (float i = blockIdx.x * 96 + threadIdx.x; i < N; i += gridDim.x * 96) sum += in[int(i)];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
