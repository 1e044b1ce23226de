// Kahan's compensated sums: behind an infinity the compensation is inf - inf, and the sum NaN in place of infinite.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(512, cdiv(N, 1024))"]
// block = [256]
// zero = ["out"]
// ///

__device__ float warp_sum(float value)
{
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffff, value, d);
    return value;
}

extern "C" __global__ void reduce(const float* __restrict__ in, float* __restrict__ out, int N)
{
    float sum = 0.0f, lost = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) {
        const float y = __fsub_rn(in[i], lost);
        const float t = __fadd_rn(sum, y);
        lost = __fsub_rn(__fsub_rn(t, sum), y);
        sum = t;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
