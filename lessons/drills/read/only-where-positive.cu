extern "C" __global__ void keep(const float* __restrict__ in, float* __restrict__ out)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float v = in[i];
    if (v > 0.0f) {
        out[i] = v;
    }
}
