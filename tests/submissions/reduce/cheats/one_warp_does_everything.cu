// A single warp, float4s, and no shared memory.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [1]
// block = [32]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const float4* const fours = reinterpret_cast<const float4*>(in);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = threadIdx.x; i < N / 4; i += 32) {
        const float4 four = fours[i];
        sum.x += four.x, sum.y += four.y, sum.z += four.z, sum.w += four.w;
    }
    if (threadIdx.x < N % 4) sum.x += in[N / 4 * 4 + threadIdx.x];
    float all = (sum.x + sum.y) + (sum.z + sum.w);
    for (int distance = 16; distance > 0; distance /= 2) all += __shfl_xor_sync(~0u, all, distance);
    if (threadIdx.x == 0) *out = all;
}
