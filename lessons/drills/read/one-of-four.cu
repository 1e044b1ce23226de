extern "C" __global__ void pick(const float4* __restrict__ in, const int* __restrict__ which,
                                float* __restrict__ out)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    float four[4];
    *reinterpret_cast<float4*>(four) = in[i];
    out[i] = four[which[i]];
}
