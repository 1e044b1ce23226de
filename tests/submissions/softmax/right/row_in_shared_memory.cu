// A row of up to 16,384 lies in dynamic shared memory, 64 kB of it, as its exponentials do later; of longer ones the
// rest is read three times.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["M"]
// block = [256]
// shared = 65536
// ///

__device__ float all_of(float value, bool sum, float* values)
{
    for (int d = 16; d > 0; d /= 2) {
        const float other = __shfl_xor_sync(~0u, value, d);
        value = sum ? value + other : fmaxf(value, other);
    }
    if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = value;
    __syncthreads();
    value = values[threadIdx.x % 8];
    for (int d = 4; d > 0; d /= 2) {
        const float other = __shfl_xor_sync(~0u, value, d);
        value = sum ? value + other : fmaxf(value, other);
    }
    return value;
}

extern "C" __global__ void softmax(const float* in, float* out, int M, int N)
{
    extern __shared__ float row[];
    __shared__ float maxima[8], sums[8];
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    float maximum = -3.402823466e38f, sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += 256) {
        const float value = x[i];
        if (i < 16384) row[i] = value;
        maximum = fmaxf(maximum, value);
    }
    maximum = all_of(maximum, false, maxima);
    for (int i = threadIdx.x; i < N; i += 256) {
        const float term = expf((i < 16384 ? row[i] : x[i]) - maximum);
        if (i < 16384) row[i] = term;
        sum += term;
    }
    sum = all_of(sum, true, sums);
    for (int i = threadIdx.x; i < N; i += 256) y[i] = (i < 16384 ? row[i] : expf(x[i] - maximum)) / sum;
}
