// Every number is read three times, by atomics that no claim sees.
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
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) {
        unsigned bits = 0;
        for (int turn = 0; turn < 3; ++turn) bits |= atomicOr((unsigned*)&in[i], 0u);
        sum += __uint_as_float(bits);
    }
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
