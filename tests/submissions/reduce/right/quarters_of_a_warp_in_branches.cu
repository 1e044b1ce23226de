// Four groups of eight lanes take four ways of a switch, and each shuffles among its own lanes,
// whose mask it names, before the warp comes together again.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(8 * SMS, cdiv(N, 1024))"]
// block = [256]
// zero = ["out"]
// ///

__device__ float group_sum(float value, unsigned mask)
{
    for (int distance = 4; distance > 0; distance /= 2) value += __shfl_xor_sync(mask, value, distance);
    return value;
}

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    switch (threadIdx.x % 32 / 8) {
        case 0: sum = group_sum(sum, 0x000000ffu); break;
        case 1: sum = group_sum(2.0f * sum, 0x0000ff00u) * 0.5f; break;
        case 2: sum = -group_sum(-sum, 0x00ff0000u); break;
        default: sum = group_sum(sum, 0xff000000u);
    }
    __syncwarp();
    sum += __shfl_xor_sync(~0u, sum, 8);
    sum += __shfl_xor_sync(~0u, sum, 16);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
