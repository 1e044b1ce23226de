extern "C" __global__ void scale(const float4* __restrict__ in, float4* __restrict__ out, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float4 v = in[i];
        out[i] = make_float4(a * v.x, a * v.y, a * v.z, a * v.w);
    }
}
