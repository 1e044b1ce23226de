// Persistent blocks draw tile after tile from a counter and put each tile's sum into the tile's own place; the block that finds the counter
// behind its end as the last of all adds the sums.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 16384)"]
//
// [[scratch]]
// name = "counters"
// dtype = "uint32"
// shape = [2]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "counters", "out", "N"]
// grid = ["min(4 * SMS, cdiv(N, 16384))"]
// block = [512]
// zero = ["counters"]
// ///
__device__ float of_block(float sum)
{
    __shared__ float warps[16];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = threadIdx.x < 16 ? warps[threadIdx.x] : 0.0f;
    if (threadIdx.x < 32)
        for (int d = 8; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    return sum;
}

extern "C" __global__ void __launch_bounds__(512) reduce(const float* in, float* sums, unsigned* counters, float* out, int N)
{
    __shared__ unsigned drawn, place;
    const unsigned tiles = (unsigned(N) + 16383) / 16384, t = threadIdx.x;
    for (;;) {
        __syncthreads();
        if (t == 0) drawn = atomicAdd(&counters[0], 1u);
        __syncthreads();
        const unsigned tile = drawn;
        if (tile >= tiles) break;
        const size_t first = size_t(tile) * 16384;
        float sum = 0.0f;
        if (first + 16384 <= N) {
            #pragma unroll
            for (int k = 0; k < 8; ++k) {
                const float4 v = reinterpret_cast<const float4*>(in + first)[512 * k + t];
                sum += (v.x + v.y) + (v.z + v.w);
            }
        } else {
            for (size_t i = first + t; i < N; i += 512) sum += in[i];
        }
        sum = of_block(sum);
        if (t == 0) sums[tile] = sum;
    }
    if (t == 0) {
        __threadfence();
        place = atomicAdd(&counters[1], 1u);
        __threadfence();
    }
    __syncthreads();
    if (place != gridDim.x - 1) return;
    float sum = 0.0f;
    for (unsigned i = t; i < tiles; i += 512) sum += __ldcg(&sums[i]);
    sum = of_block(sum);
    if (t == 0) *out = sum;
}
