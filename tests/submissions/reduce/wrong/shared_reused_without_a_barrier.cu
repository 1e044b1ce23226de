// The same places serve twice, for two sums of a block, with no barrier between the last read of
// the first and the first write of the second.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, 512)"]
// block = [256]
// zero = ["out"]
// ///

__device__ float block_sum(float value, float* places)
{
    const int t = threadIdx.x;
    places[t] = value;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) places[t] += places[t + half];
    }
    return places[0];
}

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float places[256];
    const size_t i = size_t(blockIdx.x) * 512 + threadIdx.x;
    const float one = block_sum(i < N ? in[i] : 0.0f, places);
    const float two = block_sum(i + 256 < N ? in[i + 256] : 0.0f, places);
    if (threadIdx.x == 0) atomicAdd(out, one + two);
}
