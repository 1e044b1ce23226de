// How many blocks are through, and their sum so far, lie in one word of 64 bits, which is exchanged by atomicCAS on a
// union. The block that makes the count full has the whole sum in its hands and needs no fence.
//
// /// launch
// [[scratch]]
// name = "state"
// dtype = "int64"
// shape = [1]
//
// [[launch]]
// kernel = "sum"
// args = ["in", "state", "out", "N"]
// zero = ["state"]
// grid = ["min(2 * SMS, cdiv(N, 1024))"]
// block = [256]
// ///

union State {
    unsigned long long bits;
    struct {
        float sum;
        unsigned count;
    } part;
};

extern "C" __global__ void sum(const float* in, unsigned long long* state, float* out, int N)
{
    __shared__ float warps[8];
    float own[4] = {};
    const size_t stride = size_t(gridDim.x) * 1024;
    for (size_t i = size_t(blockIdx.x) * 1024 + threadIdx.x; i < size_t(N); i += stride)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            if (i + 256 * j < size_t(N)) own[j] += in[i + 256 * j];
    float total = (own[0] + own[1]) + (own[2] + own[3]);
    for (int d = 1; d < 32; d <<= 1) total += __shfl_xor_sync(0xffffffffu, total, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x) return;
    total = 0.0f;
    for (float part : warps) total += part;
    State before, after, seen;
    seen.bits = atomicAdd(state, 0ull);
    do {
        before = seen;
        after.part.sum = before.part.sum + total;
        after.part.count = before.part.count + 1;
        seen.bits = atomicCAS(state, before.bits, after.bits);
    } while (seen.bits != before.bits);
    if (after.part.count == gridDim.x) *out = after.part.sum;
}
