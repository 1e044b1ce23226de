extern "C" __global__ void rectify(const float* __restrict__ in, float* __restrict__ out, float slope)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    float v = in[i];
    if (v < 0.0f) {
        v *= slope;
    }
    out[i] = v;
}
