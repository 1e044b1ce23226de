// The tree of the naive kernel, with its places in scratch memory: no load of shared memory, no
// conflict.
//
// deserves: 00_naive
//
// /// launch
// [[scratch]]
// name = "places"
// dtype = "float32"
// shape = ["cdiv(N, 256) * 256"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "places", "out", "N"]
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* places, float* out, int N)
{
    float* const own = places + size_t(blockIdx.x) * 256;
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    atomicExch(&own[threadIdx.x], i < N ? in[i] : 0.0f);
    for (int distance = 1; distance < 256; distance *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * distance) == 0)
            atomicAdd(&own[threadIdx.x], atomicAdd(&own[threadIdx.x + distance], 0.0f));
    }
    if (threadIdx.x == 0) atomicAdd(out, atomicAdd(&own[0], 0.0f));
}
