// The naive tree in shared memory, read by integer atomics: loads and conflicts are not those of
// loads.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ unsigned places[256];
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    const int t = threadIdx.x;
    places[t] = __float_as_uint(i < N ? in[i] : 0.0f);
    for (int distance = 1; distance < 256; distance *= 2) {
        __syncthreads();
        if (t % (2 * distance) == 0) {
            const float mine = __uint_as_float(atomicOr(&places[t], 0u));
            const float other = __uint_as_float(atomicOr(&places[t + distance], 0u));
            atomicExch(&places[t], __float_as_uint(mine + other));
        }
    }
    if (t == 0) atomicAdd(out, __uint_as_float(atomicOr(&places[0], 0u)));
}
