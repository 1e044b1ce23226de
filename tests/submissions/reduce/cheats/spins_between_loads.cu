// All claims hold; a loop of arithmetic between any two loads makes it slow, and no claim names
// its instructions.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [16]
// block = [32]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const float4* const fours = reinterpret_cast<const float4*>(in);
    float sum = 0.0f;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < N / 4; i += gridDim.x * 32) {
        const float4 four = fours[i];
        sum += (four.x + four.y) + (four.z + four.w);
        __nanosleep(100);
    }
    if (blockIdx.x == 0 && threadIdx.x < N % 4) sum += in[N / 4 * 4 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
