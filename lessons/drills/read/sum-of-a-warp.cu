extern "C" __global__ void sums(const float* __restrict__ in, float* __restrict__ out)
{
    float value = in[blockIdx.x * 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = value;
    }
}
